#!/bin/sh
# Prints the versions between two, one a line: an upgrade takes them in this order.
set -eu
from=${1:?usage: path.sh FROM TO}
to=${2:?usage: path.sh FROM TO}
on=
for version in 4.0 4.1 4.2 5.0 5.1; do
  if [ "$version" = "$from" ]; then on=yes; continue; fi
  if [ -n "$on" ]; then echo "$version"; fi
  if [ "$version" = "$to" ]; then exit 0; fi
done
echo "path.sh: no way from $from to $to" >&2
exit 1
