{
  // Whatever sticks out of the window.
  overflows() {
    const wide = document.documentElement.clientWidth;
    const inside = (each) => {
      const box = each.getBoundingClientRect();
      return box.width === 0 || (box.left >= -1 && box.right <= wide + 1);
    };
    const every = [...document.querySelectorAll("main *, header *")].filter((each) => each.checkVisibility());
    const told = every.filter((each) => !inside(each)).map((each) => `${each.tagName}: ${each.textContent.slice(0, 40)}`);
    if (document.documentElement.scrollWidth > wide) told.push("the page is wider than the window");
    return told;
  },

  // Texts of one picture that lie on each other.
  overlaps() {
    const told = [];
    for (const picture of document.querySelectorAll("svg")) {
      const texts = [...picture.querySelectorAll("text")].filter((each) => each.checkVisibility());
      const boxes = texts.map((each) => each.getBoundingClientRect());
      for (let a = 0; a < boxes.length; a++) {
        for (let b = a + 1; b < boxes.length; b++) {
          const across = Math.min(boxes[a].right, boxes[b].right) - Math.max(boxes[a].left, boxes[b].left);
          const down = Math.min(boxes[a].bottom, boxes[b].bottom) - Math.max(boxes[a].top, boxes[b].top);
          if (across > 2 && down > 5) told.push(`${texts[a].textContent} on ${texts[b].textContent}`);
        }
      }
    }
    return told;
  },

  // What a screen reader could not name.
  "has no name"() {
    const named = (each) => each.getAttribute("aria-label") || each.textContent.trim() || each.labels?.length;
    return [...document.querySelectorAll("button, input, select, a, svg[role=img], progress")]
      .filter((each) => each.checkVisibility() && !named(each))
      .map((each) => each.outerHTML.slice(0, 80));
  },

  // Words with less contrast than 4.5 to what is behind them.
  "is too pale"() {
    const light = (colour) => {
      const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
      const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(linear);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const under = (each) => {
      for (let at = each; at; at = at.parentElement) {
        const colour = getComputedStyle(at).backgroundColor;
        if (!/, 0\)$|transparent/.test(colour)) return colour;
      }
      return "white";
    };
    const written = (each) => [...each.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    return [...document.querySelectorAll("main *, header *, footer *")]
      .filter((each) => each.checkVisibility() && !each.closest("svg") && !each.disabled && each.tagName !== "OPTION" && written(each))
      .map((each) => {
        const [a, b] = [light(getComputedStyle(each).color), light(under(each))].sort((x, y) => y - x);
        return [(a + 0.05) / (b + 0.05), `${each.tagName} ${each.textContent.slice(0, 30)}`];
      })
      .filter(([contrast]) => contrast < 4.5)
      .map(([contrast, words]) => `${words}: ${contrast.toFixed(2)}`);
  },
}
