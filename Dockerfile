# The gateway as an image: Node, its libraries and the gateway, no shell, no package manager.
#
#   docker build --build-arg VERSION=0.1.0 --build-arg REVISION="$(git rev-parse HEAD)" -t agent-gateway .
#
# Works with Docker, BuildKit and buildah (`--format docker`). OCI's format has no place for the HEALTHCHECK: an archive
# in it, such as that of a release, and what is pushed from it have none.
# Written by deploy/pin-images.sh out of deploy/images.txt.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY tools/keep-packages.ts ./tools/
# Without the packages of the tests, which are most of the development packages. The bundle takes along what it finds.
RUN node tools/keep-packages.ts @types/express @types/node rolldown typescript
# No package of this build needs its install script, and none gets to run one. Without the workspaces, the client
# library and the command line: their folders are not here, nor is what they alone need.
RUN npm ci --workspaces=false --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json nest-cli.json ./
COPY tools/bundle.ts ./tools/
COPY src ./src
# Not `npm run build`, which builds the workspaces too.
RUN node tools/bundle.ts && find dist -name '*.map' -delete && mkdir /gateway && mv dist package.json /gateway

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Optional, too: a peer that Terminus can use brings a viewer of API documents and a compiler along.
RUN npm ci --workspaces=false --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
# The program has its packages inside. Their manifests stay for scanners, which find packages by them, and their licences.
RUN cd node_modules \
 && find . -type f ! -name package.json ! -iname 'licen[cs]e*' ! -iname 'notice*' -delete \
 && find . -type d -empty -delete

# What Node itself needs: its binary, the libraries that it links, and the folders that a container
# with a read-only root has things mounted on. Scanners find the packages of the libraries where distroless images have
# them, in status.d; their licences are in the folder of each.
FROM ${NODE_IMAGE} AS node
RUN mkdir -p /rootfs/usr/local/bin /rootfs/etc /rootfs/proc /rootfs/sys /rootfs/dev /rootfs/tmp \
 && chmod 1777 /rootfs/tmp \
 && cp "$(command -v node)" /rootfs/usr/local/bin/node \
 && ldd /rootfs/usr/local/bin/node | grep -o '/[^ ]*' | xargs -I{} cp --parents --dereference {} /rootfs \
 && cp --dereference /etc/os-release /rootfs/etc/os-release \
 && mkdir -p /rootfs/var/lib/dpkg/status.d \
 && for library in $(ldd /rootfs/usr/local/bin/node | grep -o '/[^ ]*'); do dpkg -S "*/${library##*/}"; done | cut -d: -f1 | sort -u > /packages \
 && while read -r package; do dpkg-query --status "$package" > "/rootfs/var/lib/dpkg/status.d/$package" \
      && cp --parents --dereference "/usr/share/doc/$package/copyright" /rootfs || exit 1; done < /packages \
 && echo 'hosts: files dns' > /rootfs/etc/nsswitch.conf \
 && echo 'gateway:x:10001:10001::/app:/sbin/nologin' > /rootfs/etc/passwd \
 && echo 'gateway:x:10001:' > /rootfs/etc/group

# A stage for each layer, so that an upgrade of the gateway pulls the last one alone. Builders that make one layer of a stage make
# these two as well.
FROM scratch AS with-node
COPY --from=node /rootfs /

FROM with-node
ARG VERSION=0.0.0-dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="agent-gateway" \
      org.opencontainers.image.description="The one HTTP front door of a system that hosts long-lived AI agents" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /gateway ./
ENV NODE_ENV=production PATH=/usr/local/bin
# By number, so that Kubernetes can tell that it is not root.
USER 10001:10001
EXPOSE 8787 8788
STOPSIGNAL SIGTERM
# For Compose; Kubernetes asks the management port. The shell-less form, as there is no shell. It asks where the
# gateway listens: on Linux 0.0.0.0 and :: are reached at this machine, and without a host it listens on both. Of port 0 nobody knows what it became.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "--eval", "const { GATEWAY_HOST: host, GATEWAY_PORT: port } = process.env; if (port === '0') process.exit(0); require('node:http').get({ host: host || '0.0.0.0', port: port || 8787, path: '/health' }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
# node itself, never `npm start`: that would swallow SIGTERM.
# The gateway has a handler for SIGUSR1. The flag is for the time before the program runs: no debugger opens then.
CMD ["node", "--disable-sigusr1", "dist/main.js"]
