// What clients learn of failures: fixed words, never an address.
import { describe, expect, it } from 'vitest'
import { at, logOf, peerProblem, setupProblem, shown } from './diagnosis.ts'
import { failureResponse } from './failure-response.ts'

const coded = (code: string): Error => Object.assign(new Error(`secret.internal 10.0.0.7:443 ${code}`), { code })

describe('the text that clients get for a failed connection', () => {
  it.each([
    ['ECONNREFUSED', 'connection refused'],
    ['ECONNRESET', 'connection reset'],
    ['EPIPE', 'connection reset'],
    ['ETIMEDOUT', 'connection timed out'],
    ['EHOSTUNREACH', 'host unreachable'],
    ['ENETUNREACH', 'network unreachable'],
    ['ENOENT', 'no such socket'],
    ['CERT_HAS_EXPIRED', 'the certificate has expired'],
    ['CERT_SIGNATURE_FAILURE', 'the certificate is not trusted'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'the certificate is not trusted'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'the certificate is not trusted'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'the certificate is not trusted'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'the certificate is for another name'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'TLS handshake failed'],
    ['EPROTO', 'TLS handshake failed'],
    ['ERR_HTTP2_SESSION_ERROR', 'HTTP/2 protocol error'],
    ['EWHATEVER', 'connection failed'],
  ])('%s: %s', (code, client) => {
    expect(peerProblem(coded(code), 'connection failed')).toEqual({ log: coded(code).message, client })
  })

  it.each([
    [
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
      {
        message:
          '40BD:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:../deps/x.c:918:\n',
        reason: 'tlsv13 alert certificate required',
      },
      { log: 'TLS: tlsv13 alert certificate required', client: 'a client certificate is required' },
    ],
    [
      'ERR_SSL_WRONG_VERSION_NUMBER',
      {
        message: '40BD:error:0A00010B:SSL routines:f:wrong version number:../deps/x.c:77:\n',
        reason: 'wrong version number',
      },
      { log: 'TLS: wrong version number', client: 'the peer does not speak TLS' },
    ],
    [
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      { message: 'unable to verify the first certificate; if the root CA is installed locally, try running Node.js' },
      { log: 'unable to verify the first certificate', client: 'the certificate is not trusted' },
    ],
  ])('%s: no source of OpenSSL, no advice about Node.js', (code, { message, ...more }, expected) => {
    expect(peerProblem(Object.assign(new Error(message), { code, ...more }), 'closed')).toEqual(expected)
  })

  it('errors without a code, and none at all', () => {
    expect(peerProblem(new Error('10.0.0.7'), 'closed').client).toBe('closed')
    expect(peerProblem(undefined, 'closed')).toEqual({ log: 'closed', client: 'closed' })
    expect(setupProblem('10.0.0.7')).toEqual({ log: '10.0.0.7', client: 'the connection cannot be set up' })
  })

  it('the peer is named in the log alone', () => {
    expect(at('10.0.0.7:80', shown('closed'))).toEqual({ log: '10.0.0.7:80: closed', client: 'closed' })
    expect(logOf(at('10.0.0.7:80', 'closed'))).toBe('10.0.0.7:80: closed')
  })
})

describe('answers', () => {
  it('hold the text of the failure and what follows', () => {
    expect(failureResponse('upstreamFailure', { clientDetail: 'connection refused' })).toMatchObject({
      status: 503,
      body: 'upstream call failed: connection refused',
    })
    expect(failureResponse('upgradeFailed', { clientDetail: 'x' }).body).toBe('request upgrade failed, x')
    const grpc = failureResponse('upstreamFailure', { isGrpc: true, clientDetail: 'connection refused' })
    expect(grpc.headers.get('grpc-message')).toBe('upstream%20call%20failed%3A%20connection%20refused')
  })
})
