# The server with everything it can use: PostgreSQL, NATS, gRPC. Build it in this folder: docker build -t palaver .
# Mount your agents at /palaver/agents; a store in a SQLite file is in the volume /data.
FROM node:24-slim AS build
WORKDIR /source
COPY . .
RUN npm ci --ignore-scripts && npm pack --pack-destination /tmp

FROM node:24-slim
WORKDIR /palaver
COPY --from=build /tmp/palaver-*.tgz /tmp/
RUN npm install --omit=dev --no-audit --no-fund /tmp/palaver-*.tgz pg@8 @nats-io/transport-node@3 @bufbuild/protobuf@2 \
  && npm cache clean --force && rm /tmp/palaver-*.tgz \
  && mkdir -p agents /data && chown node:node /data
ENV NODE_ENV=production BIND_HOST=0.0.0.0 PORT=3000
USER node
VOLUME /data
EXPOSE 3000
# Alive: the process makes progress. Whether it is ready for callers is at /readyz, for load balancers.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "node_modules/palaver/dist/cli/main.js"]
CMD ["serve", "--demo", "--store", "sqlite:/data/palaver.db"]
