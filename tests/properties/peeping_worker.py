"""Workers that look at something which no key names, while they draw, each in its own way."""

import os
import socket
import subprocess
import sys

from nfbuild.render.tasks import DrawTask
from nfbuild.render.worker import Worker


class Honest(Worker):
    """Looks at nothing; it shows that planting alone fails no build."""

    def perform(self, task):
        if isinstance(task, DrawTask):
            self.look(os.path.abspath(os.path.join(self.setup.staging, "..", "..", "..")))
        return super().perform(task)

    def look(self, root):
        """Look at something; `root` is the project's folder."""


class ReadsAFile(Honest):
    def look(self, root):
        with open(os.path.join(root, "palette.txt"), "rb") as file:
            file.read()


class LooksForAFile(Honest):
    def look(self, root):
        try:
            open(os.path.join(root, "absent.txt"), "rb").close()
        except FileNotFoundError:
            return


class ListsAFolder(Honest):
    def look(self, root):
        os.listdir(os.path.join(root, "compositions"))


class ReadsTheComposition(Honest):
    def look(self, root):
        with open(os.path.join(root, "compositions", "moving.nf.svg"), "rb") as file:
            file.read()


class WritesAFile(Honest):
    def look(self, root):
        with open(os.path.join(root, "note.txt"), "w", encoding="utf-8") as file:
            file.write("x")


class StartsAProgram(Honest):
    def look(self, root):
        subprocess.run([sys.executable, "-c", ""], check=False)


class AsksTheNetwork(Honest):
    def look(self, root):
        with socket.socket() as line:
            line.connect_ex(("127.0.0.1", 9))
