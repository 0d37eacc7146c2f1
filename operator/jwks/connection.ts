// The connection of one fetch: TCP, to the proxy or by CONNECT through it when there is one, TLS when a policy requires
// it. Never a unix socket: users must not reach the sockets of the controller.
import type { Socket } from 'node:net'
import { bearsOneOf, subjectAltNames } from '#api/tls/subject-alt-names.ts'
import { dial, secured, type TlsOptions } from '../http/connect.ts'
import { tunnel } from '../http/socket-client.ts'
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
  checkLiteral(first.host, rule)
  const socket = await dial(first, { lookup: guardedLookup(rule), msMax: DIAL_MS_MAX }, signal)
  try {
    if (proxy === undefined) return await withTls(socket, place, settings, signal)
    const toProxy = await withTls(socket, proxy.place, proxy.tls, signal)
    // Plain HTTP is handed to the proxy as it is, with an absolute URI (docs/adr/0008).
    if (settings === undefined) return toProxy
    return await withTls(await tunnel(toProxy, authorityOf(place), signal), place, settings, signal)
  } catch (error) {
    socket.destroy()
    throw error
  }
}

async function withTls(
  socket: Socket,
  { host }: HostPlace,
  settings: JwksTls | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  return settings === undefined ? socket : secured(socket, host, tlsOptions(settings), signal)
}

function tlsOptions(settings: JwksTls): TlsOptions {
  const { serverName, insecureSkipVerify, caCertificates, clientCertificate, clientKey, keyExchangeGroups } = settings
  return {
    minVersion: 'TLSv1.2',
    rejectUnauthorized: insecureSkipVerify !== 'All',
    ...(serverName !== undefined && { servername: serverName }),
    ...(caCertificates !== undefined && { ca: caCertificates }),
    ...(clientCertificate !== undefined && { cert: clientCertificate }),
    ...(clientKey !== undefined && { key: clientKey }),
    ...(keyExchangeGroups !== undefined && { ecdhCurve: keyExchangeGroups.join(':') }),
    ...identityCheck(settings),
  }
}

function identityCheck({
  insecureSkipVerify,
  verifySubjectAltNames,
}: JwksTls): Pick<TlsOptions, 'checkServerIdentity'> {
  if (insecureSkipVerify !== undefined) return { checkServerIdentity: () => undefined }
  if (verifySubjectAltNames === undefined) return {}
  return {
    checkServerIdentity: (_host, certificate) =>
      bearsOneOf(subjectAltNames(certificate.subjectaltname), verifySubjectAltNames)
        ? undefined
        : new Error(`the certificate has none of the names ${verifySubjectAltNames.join(', ')}`),
  }
}

function authorityOf({ host, port }: HostPlace): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
