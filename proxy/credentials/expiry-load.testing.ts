// Requests at a steady rate over the end of a token, through a real proxy with an emulated identity provider and
// authorization server. For tests and benchmarks, not used by the proxy.
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import { testProxy } from '#proxy/main.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import {
  applicationServer,
  CROSS_APP_SECRETS,
  crossAppAccess,
  identityProvider,
  idToken,
  send,
} from './oauth/authorities.testing.ts'

export interface ExpiryLoad {
  readonly seconds: number
  readonly perSecond: number
  readonly workers: number
  /** Time of the token endpoint for an answer. */
  readonly endpointMs: number
}

export interface ExpiryLoadResult {
  readonly sent: number
  /** Responses other than 200, and requests without one, by status or error. */
  readonly failures: ReadonlyMap<string, number>
  /** Requests that reached the backend with a token that had ended. */
  readonly ended: number
  /** Requests that reached the backend with each token, in the order of issue. */
  readonly perToken: readonly number[]
  /** Tokens that the endpoint issued. */
  readonly fetches: number
  readonly slowestMs: number
}

/** A token is not sent in its last 15 s (token-store.ts): the first one is over a second before the load. */
const LAST_S = 15
const LATER_S = 3600
const AUTH = crossAppAccess({ provider: 'ns/idp', application: 'ns/app' })

export async function loadOverExpiry(load: ExpiryLoad): Promise<ExpiryLoadResult> {
  const { seconds, workers, endpointMs } = load
  const [provider, application] = [await identityProvider(), await applicationServer()]
  const ends: number[] = []
  application.override = (response) => {
    const lifeS = ends.length === 0 ? seconds - 1 + LAST_S : LATER_S
    const token = `at.${ends.length}`
    ends.push(Date.now() + lifeS * 1000)
    const body = { access_token: token, token_type: 'Bearer', expires_in: lifeS }
    setTimeout(() => send(response, { status: 200, body }), endpointMs)
  }
  let ended = 0
  const perToken: number[] = []
  const upstream = createServer((request, response) => {
    const index = Number(/^Bearer at\.(\d+)$/.exec(request.headers.authorization ?? '')?.[1] ?? -1)
    perToken[index] = (perToken[index] ?? 0) + 1
    if (!(Date.now() < (ends[index] ?? 0))) ended++
    response.end('ok')
  })
  const at = (port: number) => ({ static: { host: '127.0.0.1', port } })
  const gateway = await testProxy({
    workers,
    secrets: CROSS_APP_SECRETS,
    routes: [
      { name: 'idp', prefix: '/unused-1', backend: at(provider.port) },
      { name: 'app', prefix: '/unused-2', backend: at(application.port) },
      {
        name: 'web',
        prefix: '/',
        backend: at(await listening(upstream)),
        backendInline: { auth: { crossAppAccess: AUTH } },
      },
    ],
  })
  try {
    const outcome = await sendSteadily(gateway.url, load)
    return { ...outcome, ended, perToken, fetches: ends.length }
  } finally {
    await gateway.stop()
    closeServer(upstream)
    provider.close()
    application.close()
  }
}

/** Every 10 ms the requests that are due; it never waits for a response. */
async function sendSteadily(url: string, { seconds, perSecond }: ExpiryLoad) {
  const pool = new Pool(url, { connections: 64 })
  const authorization = `Bearer ${await idToken('load', 2 * LATER_S)}`
  const failures = new Map<string, number>()
  const running = new Set<Promise<void>>()
  const startMs = performance.now()
  let slowestMs = 0
  let sent = 0
  const failed = (what: string): void => void failures.set(what, (failures.get(what) ?? 0) + 1)
  const one = async (): Promise<void> => {
    const begunMs = performance.now()
    try {
      const { statusCode, body } = await pool.request({ method: 'GET', path: '/', headers: { authorization } })
      await body.dump()
      if (statusCode !== 200) failed(String(statusCode))
    } catch (error) {
      failed(String(error))
    }
    slowestMs = Math.max(slowestMs, performance.now() - begunMs)
  }
  while (sent < seconds * perSecond) {
    const due = Math.min(seconds * perSecond, ((performance.now() - startMs) * perSecond) / 1000)
    for (; sent < due; sent++) {
      const request = one().finally(() => running.delete(request))
      running.add(request)
    }
    await delay(10)
  }
  await Promise.all(running)
  await pool.close()
  return { sent, failures, slowestMs }
}
