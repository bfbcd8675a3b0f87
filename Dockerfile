# The image of all processes: the bundles of `npm run build`, Helm, and Node. Deployments say which of them runs.
#
#   docker build -t karpenter-provider-unikraft:0.1.0 .
#
# Tests hold this file against what it speaks of (scripts/image/image.test.ts, test/integration/image.test.ts); the image itself
# is built by .github/workflows/kind.yaml.

# As package.json pins it for development, since memory and times are measured on that one.
FROM --platform=$BUILDPLATFORM node:24.22.3-trixie-slim AS bundle
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# Nothing reads the maps in the image, and they are two thirds of it: names are kept, so stacks can be read without.
RUN npm run build && find dist -name '*.map' -delete

# Helm, which renders Kraftlet's chart, as the sandbox and the tests have it.
FROM --platform=$BUILDPLATFORM golang:1.26.9-trixie AS helm
WORKDIR /source
COPY sandbox/helm/go.mod sandbox/helm/go.sum ./
RUN go mod download
ARG TARGETOS TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -mod=readonly -buildvcs=false -trimpath '-ldflags=-s -w' -o /helm helm.sh/helm/v4/cmd/helm

FROM node:24.22.3-trixie-slim
# What installs packages is of no use here, and of use to others.
RUN rm -r /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx && rm -rf /usr/local/bin/corepack /opt/yarn*
# Node has its own; Helm fetches charts by these, and the slim image has none.
COPY --from=helm /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=helm /helm /usr/local/bin/helm
COPY LICENSE /licenses/LICENSE
WORKDIR /app
COPY --from=bundle /source/dist ./
# By number, since runAsNonRoot believes no name. Only /tmp is written to, by the controller for Helm.
USER 65532:65532
CMD ["node", "controller/main.js"]
