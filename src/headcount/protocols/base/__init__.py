"""Protocol, what it declares, and what is saved of it: plans, certificates, records for a registry.

Begin with `declaration`; `predicted` and `protocol` follow from it. A leaf imports `Protocol`,
`Knob` and `Shape` from here; plans are read back by `saved`, which knows the catalogue.
"""

from headcount.protocols.base.knob import Choices, Knob, Settings, likely_variance, truthful
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.reach import Reach
from headcount.questions.domains.domain import Shape

__all__ = ["Choices", "Knob", "Protocol", "Reach", "Settings", "Shape", "likely_variance", "truthful"]
