"""Draws one frame of each kind in this process and prints which variables were asked for, and by
digest what was drawn. Only variables that Python code asks for are seen here.
"""

import hashlib
import json
import os
import sys
import tempfile


class Noting(type(os.environ)):
    """The environment, with a list of the names that were looked up."""

    def __getitem__(self, name):
        asked.add(name)
        return super().__getitem__(name)


asked = set()


def main():
    import font_source_sans_pro
    from mutation_cases import lottie

    from nfbuild.digests import file_digest
    from nfbuild.render.tasks import DecodeTask, DrawTask, LottieShot, Setup
    from nfbuild.render.worker import Worker

    place = os.path.join(os.path.dirname(font_source_sans_pro.__file__), "files")
    path = os.path.join(place, "SourceSansPro-Regular.ttf")
    with open(path, "rb") as file:
        face = file_digest(file.read())
    case = lottie(1)
    scene = case.files[case.main]
    jpeg = bytes.fromhex(sys.argv[1])
    folder = tempfile.mkdtemp()
    picture = f"{file_digest(jpeg)}.jpg"
    with open(os.path.join(folder, picture), "wb") as file:
        file.write(jpeg)
    head = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 40" width="90" height="40">'
    text = head + f'<text font-family="{face}" font-size="20" y="30">words</text></svg>'.encode()
    image = head + f'<image href="{picture}" width="60" height="40"/></svg>'.encode()

    # What starting Python, NumPy and Pillow asks for is in front of this line on purpose: none of
    # it can be kept from asking, and the fixed environment has none of it.
    worker = Worker(Setup(folder, {face: path}))
    worker.warm()
    before = type(os.environ)
    os.environ.__class__ = Noting
    tasks = (
        DrawTask(text, 90, 40, faces=(face,)),
        DrawTask(image, 90, 40, pictures=(picture,)),
        DrawTask(scene, 200, 100, lottie=LottieShot(3.0)),
        DrawTask(scene, 200, 100, lottie=LottieShot(3.0, alone=True)),
    )
    drawn = [worker.perform(task).digest for task in tasks]
    drawn.append(worker.perform(DecodeTask(bytes.fromhex(sys.argv[2]))).digest)
    os.environ.__class__ = before
    summary = hashlib.sha256("\n".join(drawn).encode()).hexdigest()
    print(json.dumps({"asked": sorted(asked), "drawn": summary}))


if __name__ == "__main__":
    main()
