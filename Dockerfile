# Two stages: the first one builds, and what runs has neither pip nor the sources.
FROM python:3.11-slim-bookworm AS build
RUN python -m venv --without-pip /opt/footnote
WORKDIR /build
COPY requirements.lock ./
RUN pip --python /opt/footnote/bin/python install --no-cache-dir --no-deps --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE manifest.json manifest-http.json ./
COPY .ci/pages.py .ci/
COPY docs docs
COPY bot bot
COPY adapters adapters
COPY core core
RUN /opt/footnote/bin/python -m hatchling build -t wheel -d dist
RUN pip --python /opt/footnote/bin/python install --no-cache-dir --no-deps --no-index dist/footnote-0.1.0-py3-none-any.whl

FROM python:3.11-slim-bookworm
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin footnote
RUN install -d -o footnote -g footnote -m 700 /data
COPY --from=build /opt/footnote /opt/footnote
ENV PATH=/opt/footnote/bin:/usr/local/bin:/usr/bin:/bin
ENV FOOTNOTE_DATA_DIR=/data
# There is no login at this port: do not publish it.
ENV FOOTNOTE_HEALTH_HOST=0.0.0.0
ENV FOOTNOTE_HEALTH_PORT=8080
USER 10001
WORKDIR /data
VOLUME /data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['FOOTNOTE_HEALTH_PORT'] + '/live', timeout=4)"]
ENTRYPOINT ["footnote"]
CMD ["run"]
