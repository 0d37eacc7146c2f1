// HTTP backends for tests with scripted responses that record their requests, and the configuration that makes
// several of them the endpoints of one Service. Not used by the proxy.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { Policy, RenderedConfig } from '#api/ir/types.gen.ts'
import { closeServer, listening } from '#test/ports.ts'

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Script = (response: ServerResponse, request: SeenRequest, index: number) => void

export interface ScriptedUpstream {
  readonly port: number
  readonly seen: SeenRequest[]
  script: Script
  stop(): void
}

export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}, body = `status ${code}`): Script =>
  (response) => {
    response.writeHead(code, headers)
    response.end(body)
  }

/** Closes the connection without a response. */
export const reset: Script = (response) => {
  response.socket?.resetAndDestroy()
}

/** Never responds. */
export const silence: Script = () => undefined

/** One after the other; the last one repeatedly. */
export const inTurn =
  (...scripts: readonly Script[]): Script =>
  (response, request, index) => {
    scripts[Math.min(index, scripts.length - 1)]?.(response, request, index)
  }

export async function scriptedUpstream(script: Script): Promise<ScriptedUpstream> {
  const seen: SeenRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const one = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') }
      seen.push(one)
      upstream.script(response, one, seen.length - 1)
    })
  })
  const port = await listening(server)
  const upstream: ScriptedUpstream = { port, seen, script, stop: () => closeServer(server) }
  return upstream
}

/** Makes the ports of 127.0.0.1 the endpoints of the Service that every route leads to. */
export function servedBy(...ports: readonly number[]): (config: RenderedConfig) => RenderedConfig {
  const service = { namespace: 'ns', hostname: 'web.ns.svc' }
  return (config) => ({
    ...config,
    services: [{ name: 'web', ...service, ports: [{ port: 80 }] }],
    workloads: ports.map((targetPort) => ({
      uid: `pod-${targetPort}`,
      addresses: ['127.0.0.1'],
      healthy: true,
      services: [{ ...service, ports: [{ port: 80, targetPort }] }],
    })),
    routes: config.routes.map((route) => ({
      ...route,
      backends: route.backends.map((backend) => ({ ...backend, ref: { service: { ...service, port: 80 } } })),
    })),
  })
}

/** A policy on that Service. */
export function servicePolicy(backend: NonNullable<Policy['policy']['backend']>): Policy {
  return {
    key: 'web',
    name: { kind: 'GwPolicy', namespace: 'ns', name: 'web' },
    target: { service: { namespace: 'ns', hostname: 'web.ns.svc' } },
    policy: { backend },
  }
}
