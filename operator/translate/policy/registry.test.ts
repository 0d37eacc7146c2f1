// The failure table: fields that guard traffic must never vanish when they cannot run.
import { describe, expect, it } from 'vitest'
import { BACKEND, FRONTEND, TRAFFIC } from './registry.ts'

const fields = Object.entries({
  ...prefixed('traffic', TRAFFIC),
  ...prefixed('frontend', FRONTEND),
  ...prefixed('backend', BACKEND),
})

function prefixed(name: string, section: object): Record<string, { failureMode: string }> {
  return Object.fromEntries(Object.entries(section).map(([field, translator]) => [`${name}.${field}`, translator]))
}

describe('the registry', () => {
  it('denies the traffic if a missing policy would let it pass', () => {
    expect(fields.filter(([, { failureMode }]) => failureMode === 'deny').map(([name]) => name)).toEqual([
      'traffic.apiKeyAuthentication',
      'traffic.authorization',
      'traffic.basicAuthentication',
      'traffic.cors',
      'traffic.csrf',
      'traffic.extAuth',
      'traffic.extProc',
      'traffic.jwtAuthentication',
      'traffic.rateLimit',
      'frontend.networkAuthorization',
      'frontend.proxyProtocol',
      'frontend.tls',
      'backend.ai',
      'backend.auth',
      'backend.extAuth',
      'backend.mcp',
      'backend.tls',
      'backend.tunnel',
    ])
  })
})
