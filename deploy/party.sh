#!/bin/sh
# What a container runs. `party serve` makes the party of ROLE in DIR if there is none, and serves it; `party ready`
# asks whether it can work. An analyser puts the shuffler's token into HANDED, where a shuffler waits for it: here that
# is a volume of both, for a rehearsal on one machine. In earnest the file is handed over, and HANDED is a secret.
set -eu
umask 077

DIR=${DIR:-/var/lib/headcount/party}
HANDED=${HANDED:-/var/lib/headcount/handed}

case "${1:-serve}" in
serve)
    if [ ! -e "$DIR/party.toml" ]; then
        if [ "$ROLE" = shuffler ]; then
            until [ -s "$HANDED/shuffler.token" ]; do sleep 1; done
            headcount party create "$DIR" --role shuffler --database "$HEADCOUNT_DATABASE" --listen "$HEADCOUNT_LISTEN" \
                --analyser "$HEADCOUNT_ANALYSER" --token "$HANDED/shuffler.token"
        else
            headcount party create "$DIR" --role "$ROLE" --database "$HEADCOUNT_DATABASE" --listen "$HEADCOUNT_LISTEN"
            cp "$DIR/shuffler.token" "$HANDED/.new" && mv "$HANDED/.new" "$HANDED/shuffler.token"
        fi
    fi
    exec headcount serve "$ROLE" --config "$DIR"
    ;;
ready)
    exec python -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=8)' \
        "http://127.0.0.1:${HEADCOUNT_LISTEN##*:}/ready"
    ;;
*)
    exec headcount "$@"
    ;;
esac
