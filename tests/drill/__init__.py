"""`make drill`: bots play every game while processes, connections and disks fail; then every record has to agree."""
