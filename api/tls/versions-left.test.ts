// Limits of a handshake, and what they leave.
import { describe, expect, it } from 'vitest'
import { type HandshakeLimits, versionsLeft } from './versions-left.ts'

const OF_12 = 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'
const OF_13 = 'TLS13_AES_128_GCM_SHA256'
const HYBRID = 'X25519_MLKEM768'

describe('versionsLeft', () => {
  it.each<[HandshakeLimits, string, string]>([
    [{}, '1.2', '1.3'],
    [{ minProtocolVersion: '1.3' }, '1.3', '1.3'],
    [{ maxProtocolVersion: '1.2' }, '1.2', '1.2'],
    [{ cipherSuites: [OF_12] }, '1.2', '1.2'],
    [{ cipherSuites: [OF_13] }, '1.3', '1.3'],
    [{ cipherSuites: [OF_12, OF_13] }, '1.2', '1.3'],
    [{ cipherSuites: [OF_12, OF_13], minProtocolVersion: '1.3' }, '1.3', '1.3'],
    [{ keyExchangeGroups: [HYBRID] }, '1.3', '1.3'],
    [{ keyExchangeGroups: [HYBRID, 'X25519'], maxProtocolVersion: '1.2' }, '1.2', '1.2'],
  ])('%j', (limits, min, max) => {
    expect(versionsLeft(limits)).toEqual({ min, max })
  })

  it.each<[HandshakeLimits, string]>([
    [{ minProtocolVersion: '1.3', maxProtocolVersion: '1.2' }, 'minProtocolVersion'],
    [{ minProtocolVersion: '1.3', cipherSuites: [OF_12] }, 'cipherSuites'],
    [{ maxProtocolVersion: '1.2', cipherSuites: [OF_13] }, 'cipherSuites'],
    [{ maxProtocolVersion: '1.2', keyExchangeGroups: [HYBRID] }, 'keyExchangeGroups'],
    [{ cipherSuites: [OF_12], keyExchangeGroups: [HYBRID] }, 'keyExchangeGroups'],
  ])('%j leaves none', (limits, field) => {
    expect(versionsLeft(limits)).toMatchObject({ field, message: expect.stringMatching(/^no client can connect: /) })
  })
})
