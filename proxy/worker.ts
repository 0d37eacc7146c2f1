// Entry of a worker thread: names the real parts of a worker. Started by the pool only.
import { compileSteps } from './config/compile.ts'
import { GRPC, partLoader } from './config/parts.ts'
import { LateGrpcClient } from './grpc/late-client.ts'
import { HboneClient } from './mesh/hbone-client.ts'
import { sharedRateLimitStore } from './policy/limits/rate-limit-store.ts'
import { serverFactory } from './runtime/create-server.ts'
import { runWorker } from './runtime/worker-thread.ts'
import { backendGuard } from './upstream/backend-guard.ts'
import { createUpstreamClient } from './upstream/client.ts'
import { ofWorker } from './upstream/connection-defaults.ts'
import { DnsCache } from './upstream/dns-cache.ts'
import { dynamicForwarding } from './upstream/dynamic.ts'
import { resolverLookup } from './upstream/resolver-lookup.ts'
import { systemLookup } from './upstream/system-lookup.ts'

runWorker(({ dnsLookupFamily: family, backendAllow, meshTunnelPort: tunnelPort, modelTraits, otlp, ...settings }) => {
  const connections = ofWorker(settings.connections, settings)
  const guard = backendAllow && backendGuard(backendAllow)
  const dns = new DnsCache(systemLookup({ family }), undefined, guard)
  return {
    partSteps: partLoader({ otlp, modelTraits }),
    compileSteps,
    createServer: serverFactory(dns),
    createClient: (connected) => createUpstreamClient({ connected, dns, connections }),
    createDynamic: (allowed, connected) =>
      dynamicForwarding(allowed, { connected, names: new DnsCache(resolverLookup(family)), dns, connections }),
    createHbone:
      tunnelPort === undefined
        ? undefined
        : (connected) =>
            new HboneClient({ tunnelPort, dns, connected, limits: settings.hbone, keepalive: connections.keepalive }),
    createGrpc: (connected) => new LateGrpcClient(() => GRPC.get().createGrpcClient({ dns, connected, connections })),
    createRateLimits: sharedRateLimitStore,
  }
})
