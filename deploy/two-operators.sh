#!/usr/bin/env bash
# Two operators with a PostgreSQL database each, then a small collection from its plan to its proof.
#
#     deploy/two-operators.sh FOLDER
#
# makes FOLDER and puts everything there: here both live on one machine, for a rehearsal. PostgreSQL is found as usual,
# by PGHOST and PGUSER. The commands between the lines "as in the guide" are those of docs/operator.md.
set -euo pipefail

SHUFFLER=${SHUFFLER:-127.0.0.1:8401}
ANALYSER=${ANALYSER:-127.0.0.1:8402}

mkdir "$1"
cd "$1"
umask 077
trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT

headcount advise count --n 200 --least 150 --corrupt 15 --epsilon 1 --delta 1e-6 --model shuffle --collected --max-messages 4 \
    --save plan.json --format json > advice.json

# as in the guide
# The operator of the analyser:
createdb analyser
headcount party create analyser --role analyser --database postgresql:///analyser --listen "$ANALYSER"
headcount serve --config analyser &

# The operator of the shuffler, who was handed analyser/shuffler.token:
createdb shuffler
headcount party create shuffler --role shuffler --database postgresql:///shuffler --listen "$SHUFFLER" \
    --analyser "http://$ANALYSER" --token analyser/shuffler.token
headcount serve --config shuffler &

# Whoever asks the question, with a token of each:
headcount desk desk --shuffler "http://$SHUFFLER" --shuffler-token shuffler/operator.token \
    --analyser "http://$ANALYSER" --analyser-token analyser/operator.token
headcount ledger create people --data desk --epsilon 3 --delta 1e-5
headcount collection create plan.json --data desk --question "Did you click?" --closable
# as in the guide

headcount collection report --data desk --answer 1 --devices 60
headcount collection report --data desk --answer 0 --devices 130
headcount collection close --data desk
headcount collection release --data desk --out release.json
headcount verify release.json
headcount ledger verify people --data desk --witness analyser/witness/*.jsonl
headcount keys rotate --config shuffler
headcount collection destroy --data desk --yes
