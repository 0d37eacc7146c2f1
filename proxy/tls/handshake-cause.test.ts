import { describe, expect, it } from 'vitest'
import { handshakeCause } from './handshake-cause.ts'

describe('handshakeCause', () => {
  it.each([
    [{ code: 'ERR_SSL_HTTP_REQUEST', reason: 'http request' }, 'the client sent plain HTTP to a TLS port'],
    [{ code: 'ERR_SSL_UNSUPPORTED_PROTOCOL' }, 'client and listener have no TLS version in common'],
    [{ code: 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA' }, 'the client rejected the certificate (alert unknown ca)'],
    [{ code: 'ERR_SSL_TLSV13_ALERT_ACCESS_DENIED' }, 'the client ended the handshake (alert access denied)'],
    [{ code: 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE' }, 'the client sent no certificate'],
    [{ code: 'ECONNRESET' }, 'client closed the connection during the handshake'],
    [{ code: 'ERR_SSL_NEW', reason: 'a new reason' }, 'a new reason'],
    [{}, 'C0:error:0A'],
  ])('of %j is %s', (fields, expected) => {
    expect(handshakeCause(Object.assign(new Error('C0:error:0A'), fields))).toBe(expected)
  })
})
