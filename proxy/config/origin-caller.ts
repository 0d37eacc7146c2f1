// Calls a server that is known by its address alone, such as an identity provider that a policy names by URL.
import { isIP } from 'node:net'
import { localState } from '../backend/endpoint-store.ts'
import { serviceCaller } from '../backend/service-caller.ts'
import type { ServiceCaller } from '../chain/service.ts'
import type { OriginPlace } from '../chain/environment.ts'
import type { CompileEnvironment } from './compile-environment.ts'

const CONNECT_MS_MAX = 5000
const CALL_MS_MAX = 10_000

/** Such a server has no policies and no other endpoint. */
export function originCaller(
  { host, port, isTls }: OriginPlace,
  { client, grpc }: Pick<CompileEnvironment, 'client' | 'grpc'>,
): ServiceCaller {
  const servername = isIP(host) === 0 ? host : undefined
  const tls = { servername, caCertificates: undefined, insecureSkipVerify: undefined, alpnProtocols: undefined }
  const target = {
    key: `origin ${isTls ? 'https' : 'http'} ${host} ${port}`,
    host,
    port,
    unixPath: undefined,
    tls: isTls ? tls : undefined,
    httpVersion: 'HTTP1',
    connectTimeoutMs: CONNECT_MS_MAX,
  } as const
  const endpoint = { target, authority: host, state: localState() }
  const picker = { pick: () => endpoint, other: () => undefined }
  return serviceCaller({ picker, filters: [], client, grpc, timeoutMs: CALL_MS_MAX, subtype: 'Mcp' })
}
