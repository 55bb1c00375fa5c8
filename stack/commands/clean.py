"""`make clean-data`: empties the data folder, once nothing uses it."""

from __future__ import annotations

import shutil
import sys

from services.kit.settings import load_or_exit
from stack.data_folder import DataFolder, FolderInUse, FolderUnusable
from stack.processes import leftovers
from stack.servers.postgres import EmbeddedPostgres
from stack.servers.relocation import PostgresError, relocated_folders
from stack.settings import ROOT, StackSettings


def main() -> int:
    """Removes what runs made; refuses while one is going on."""
    folder = DataFolder(load_or_exit(StackSettings).data)
    if not folder.root.exists():
        print(f"{folder.root} is empty already.")
        return 0
    try:
        folder.lock("make clean-data")
        data = EmbeddedPostgres(folder.postgres, 0).data
        leftovers.stop(leftovers.find(folder.root, data), folder.root, data)
        for relocated in relocated_folders(folder.postgres, ROOT):
            shutil.rmtree(relocated)
            print(f"removed {relocated}")
        for path in folder.empty():
            print(f"removed {path}")
    except (FolderInUse, FolderUnusable, PostgresError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        folder.unlock()
    return 0


if __name__ == "__main__":
    sys.exit(main())
