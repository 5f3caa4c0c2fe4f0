"""Real servers on free loopback ports, with everything they write below a test's own folder."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sysconfig
import time

import pytest

NGINX = """
daemon off; master_process off; worker_processes 1; pid {folder}/nginx.pid;
{user}
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  client_max_body_size 64m;
  server {{
    listen 127.0.0.1:{port}{tls};
    location / {{
      root {folder}/data;
      dav_methods PUT DELETE MKCOL;
      create_full_put_path {full};
      dav_access user:rw group:rw all:r;
    }}
  }}
}}
"""
S3_KEYS = ("testkey", "testsecret")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process, seconds=15.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return
        if process.poll() is not None:
            break
        time.sleep(0.02)
    raise AssertionError(f"the server does not listen: {process.args}")


class Server:
    """A process that listens; `kill` ends it at once, `start` starts it again on its port."""

    def __init__(self, arguments, port, url, data, environment=None):
        self.arguments = arguments
        self.port = port
        self.url = url
        self.data = data
        self.environment = environment
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            self.arguments,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            env=self.environment,
        )
        wait_for(self.port, self.process)
        return self

    def kill(self):
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGKILL)
            self.process.wait(10)
            self.process = None


def need(program):
    # A package's program lies beside the interpreter, which need not be on the path.
    beside = sysconfig.get_path("scripts")
    path = shutil.which(program) or shutil.which(program, path=f"{beside}:/usr/sbin:/sbin")
    if path is None:
        pytest.skip(f"`{program}` is not installed here")
    return path


def nginx(folder, *, full_path=True, certificate=None):
    program = need("nginx")
    data = folder / "data"
    data.mkdir(parents=True)
    port = free_port()
    user = "user root;" if os.geteuid() == 0 else ""
    tls, scheme = "", "http"
    if certificate is not None:
        tls = f" ssl; ssl_certificate {certificate}; ssl_certificate_key {certificate}"
        scheme = "https"
    config = folder / "nginx.conf"
    full = "on" if full_path else "off"
    config.write_text(NGINX.format(folder=folder, port=port, full=full, user=user, tls=tls))
    arguments = [program, "-c", str(config), "-p", str(folder), "-e", str(folder / "error.log")]
    return Server(arguments, port, f"{scheme}://127.0.0.1:{port}/cache", data)


def certify(folder, name):
    """Return a file with a new key and a certificate that `name` signed for itself."""
    file = folder / "certificate.pem"
    words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    words += ["-days", "2", "-subj", "/CN=test", "-addext", f"subjectAltName={name}"]
    words += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run([need("openssl"), *words], check=True, capture_output=True, timeout=60)
    file.write_bytes((folder / "key.pem").read_bytes() + (folder / "cert.pem").read_bytes())
    return file


def rclone(folder, protocol):
    program = need("rclone")
    data = folder / "data"
    (data / "bucket").mkdir(parents=True)
    port = free_port()
    arguments = [program, "serve", protocol, str(data), "--addr", f"127.0.0.1:{port}"]
    arguments += ["--config", str(folder / "none.conf"), "--cache-dir", str(folder / "cache")]
    if protocol == "s3":
        arguments += ["--auth-key", ",".join(S3_KEYS)]
        url = "s3://bucket/prefix"
    else:
        url = f"http://127.0.0.1:{port}/bucket/a b"
    return Server(arguments, port, url, data)


def s3_environment(server):
    return {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.port}",
        "AWS_ACCESS_KEY_ID": S3_KEYS[0],
        "AWS_SECRET_ACCESS_KEY": S3_KEYS[1],
        "AWS_REGION": "us-east-1",
    }
