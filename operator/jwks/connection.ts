// The connection of one fetch: TCP, to the proxy or by CONNECT through it when there is one, TLS when a policy asks for
// it. Never a unix socket: those of the controller are nobody's business.
import { request as httpRequest } from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import tls from 'node:tls'
import { bearsOneOf, subjectAltNames } from '#api/tls/subject-alt-names.ts'
import type { HostPlace, JwksRequest } from '../translate/policy/jwks-request.ts'
import type { JwksTls } from '../translate/policy/jwks-tls.ts'
import { type AddressRule, checkLiteral, checkUnresolved, guardedLookup } from './address-rule.ts'

/** Until the network connection is there (resources supplement section 2.17). */
const DIAL_MS_MAX = 5000

/** @throws {Error} with a text for people; the signal ends every step. */
export async function openConnection(
  { place, tls: settings, proxy }: JwksRequest,
  rule: AddressRule,
  signal: AbortSignal,
): Promise<Socket> {
  if (proxy !== undefined) checkUnresolved(place.host, rule)
  const first = proxy?.place ?? place
  const socket = await dial(first, rule, signal)
  try {
    if (proxy === undefined) return await secured(socket, settings, place, signal)
    const toProxy = await secured(socket, proxy.tls, proxy.place, signal)
    // Plain HTTP is handed to the proxy as it is, with an absolute URI (docs/adr/0008).
    if (settings === undefined) return toProxy
    const through = await tunnel(toProxy, place, signal)
    return await secured(through, settings, place, signal)
  } catch (error) {
    socket.destroy()
    throw error
  }
}

async function dial({ host, port }: HostPlace, rule: AddressRule, signal: AbortSignal): Promise<Socket> {
  checkLiteral(host, rule)
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(DIAL_MS_MAX)])
  const socket = connect({ host, port, lookup: guardedLookup(rule) })
  await opened(socket, 'connect', deadline)
  return socket
}

async function secured(
  socket: Socket,
  settings: JwksTls | undefined,
  { host }: HostPlace,
  signal: AbortSignal,
): Promise<Socket> {
  if (settings === undefined) return socket
  const { serverName, insecureSkipVerify, caCertificates, clientCertificate, clientKey, keyExchangeGroups } = settings
  const name = serverName ?? (isIP(host) === 0 ? host : undefined)
  const secure = tls.connect({
    socket,
    host,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: insecureSkipVerify !== 'All',
    ...(name !== undefined && { servername: name }),
    ...(caCertificates !== undefined && { ca: caCertificates }),
    ...(clientCertificate !== undefined && { cert: clientCertificate }),
    ...(clientKey !== undefined && { key: clientKey }),
    ...(keyExchangeGroups !== undefined && { ecdhCurve: keyExchangeGroups.join(':') }),
    ...identityCheck(settings),
  })
  await opened(secure, 'secureConnect', signal)
  return secure
}

function identityCheck({
  insecureSkipVerify,
  verifySubjectAltNames,
}: JwksTls): Pick<tls.ConnectionOptions, 'checkServerIdentity'> {
  if (insecureSkipVerify !== undefined) return { checkServerIdentity: () => undefined }
  if (verifySubjectAltNames === undefined) return {}
  return {
    checkServerIdentity: (_host, certificate) =>
      bearsOneOf(subjectAltNames(certificate.subjectaltname), verifySubjectAltNames)
        ? undefined
        : new Error(`the certificate bears none of the names ${verifySubjectAltNames.join(', ')}`),
  }
}

/** The socket is destroyed when it does not open. */
function opened(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const fail = (error: Error): void => {
    socket.destroy()
    reject(error)
  }
  const aborted = (): void => fail(new Error('the connection took too long'))
  const closed = (): void => fail(new Error('the connection was closed'))
  socket.once(event, resolve).once('error', fail).once('close', closed)
  if (signal.aborted) aborted()
  else signal.addEventListener('abort', aborted, { once: true })
  return promise.finally(() => {
    signal.removeEventListener('abort', aborted)
    socket.off('close', closed)
    // What fails later is told by whoever uses the socket; an error without a listener would end the process.
    socket.on('error', () => {})
  })
}

/** RFC 9110 section 9.3.6. */
function tunnel(socket: Socket, { host, port }: HostPlace, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const request = httpRequest({
    createConnection: () => socket,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority },
    signal,
  })
  request.once('connect', ({ statusCode = 0 }, through, head) => {
    if (statusCode !== 200) reject(new Error(`the proxy refused the tunnel with ${statusCode}`))
    // The server must not speak first, neither in HTTP nor in TLS.
    else if (head.length > 0) reject(new Error('the proxy sent more than its answer'))
    else resolve(through)
  })
  request.once('response', ({ statusCode = 0 }) => reject(new Error(`the proxy refused the tunnel with ${statusCode}`)))
  request.once('error', reject)
  request.end()
  return promise
}
