# The parts of deploy/compose.yaml that are the project's own, beside the gateway: for trying the system,
# not for production. The gateway itself is the Dockerfile at the top.
# Written by deploy/pin-images.sh out of deploy/images.txt.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim
FROM ${NODE_IMAGE}
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund \
 && npm install --no-save --ignore-scripts --no-audit --no-fund pg@8.16.3 \
 && mkdir /data && chown 1000:1000 /data
COPY packages/client/src ./packages/client/src
COPY local ./local
COPY deploy/services ./deploy/services
# The user `node` of the image.
USER 1000:1000
