// The guard `guardrailsA`, with a service that checks signatures and that the SDK of AWS calls as well.
import { ApplyGuardrailCommand, BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { afterEach, describe, expect, it } from 'vitest'
import type { BackendAuth } from '#api/ir/types.gen.ts'
import type { Verified } from '../../credentials/cloud-a/verifier.testing.ts'
import { authFilters } from './auth.testing.ts'
import { guardrailsA } from './guardrails-a.ts'
import { guardrailReply, guardTestService, textsOf, type GuardTestService } from './services.testing.ts'

const AUTH = {
  cloudA: { secretRef: { accessKey: { secret: 'ns/id' }, secretKey: { secret: 'ns/key' } }, region: 'eu-west-1' },
}
const SECRETS = { 'ns/id': 'AKIATEST', 'ns/key': 'planted-secret' }
const ARN = 'arn:aws:bedrock:eu-west-1:123456789012:guardrail/abc'
const settings = { identifier: ARN, version: '3', region: 'eu-west-1' }

let open: GuardTestService | undefined
let vendor: BedrockRuntimeClient | undefined
afterEach(() => {
  open?.close()
  vendor?.destroy()
})

async function guardAgainst(reply: Parameters<typeof guardTestService>[0]) {
  open = await guardTestService(reply, { filters: authFilters(AUTH, SECRETS) })
  return guardrailsA(settings, open.environment)
}

const service = (verified?: Verified[]) => guardrailReply(() => 'planted-secret', verified)

describe('guardrailsA', () => {
  it('passes texts without an intervention, with a signed request', async () => {
    const verified: Verified[] = []
    const guard = await guardAgainst(service(verified))
    expect(await guard.check(textsOf(['hi', '', 'there']))).toEqual({ kind: 'pass' })
    expect(open?.received).toMatchObject([
      {
        target: `/guardrail/${encodeURIComponent(ARN)}/version/3/apply`,
        json: { source: 'INPUT', content: [{ text: { text: 'hi' } }, { text: { text: 'there' } }] },
      },
    ])
    expect(verified).toMatchObject([{ accessKeyId: 'AKIATEST', region: 'eu-west-1', service: 'bedrock' }])
  })

  it('replaces texts by anonymised ones, and keeps empty ones in their place', async () => {
    const guard = await guardAgainst(service())
    const texts = textsOf([['system', ''], 'I am ann@example.com', ['tool', '42'], ' '], { phase: 'Response' })
    expect(await guard.check(texts)).toEqual({
      kind: 'mask',
      texts: ['', 'I am {EMAIL}', '42', ' '],
      matched: ['sensitiveInformationPolicy.EMAIL'],
    })
    expect(open?.received[0]?.json['source']).toBe('OUTPUT')
  })

  it('rejects what is blocked, also if other texts are anonymised', async () => {
    const guard = await guardAgainst(service())
    expect(await guard.check(textsOf(['a weapon', 'ann@example.com']))).toEqual({
      kind: 'reject',
      matched: ['sensitiveInformationPolicy.EMAIL', 'topicPolicy.DENY'],
    })
  })

  const pii = (action: string) => ({ sensitiveInformationPolicy: { piiEntities: [{ type: 'EMAIL', action }] } })
  const intervened = (outputs: unknown, assessments: unknown) => ({
    body: { action: 'GUARDRAIL_INTERVENED', outputs, assessments },
  })
  it.each<[name: string, outputs: unknown, assessments: unknown]>([
    ['fewer outputs than texts', [{ text: 'x' }], [pii('ANONYMIZED')]],
    ['more outputs than texts', [{ text: 'x' }, { text: 'y' }, { text: 'z' }], [pii('ANONYMIZED')]],
    ['an output without a text', [{ text: 'x' }, {}], [pii('ANONYMIZED')]],
    ['an unknown action', [{ text: 'x' }, { text: 'y' }], [pii('ANONYMIZED'), pii('SOMETHING')]],
    ['no assessment', [{ text: 'x' }, { text: 'y' }], undefined],
    ['assessments that only detect', [{ text: 'x' }, { text: 'y' }], [pii('NONE')]],
    ['invalid outputs', 'x', [pii('ANONYMIZED')]],
  ])('rejects an intervention with %s', async (_, outputs, assessments) => {
    const guard = await guardAgainst(() => intervened(outputs, assessments))
    expect(await guard.check(textsOf(['hi', 'there']))).toMatchObject({ kind: 'reject' })
  })

  it('does not name a filter that has a text of the user as its type', async () => {
    const assessments = [
      { wordPolicy: { customWords: [{ match: 'planted', type: 'my planted text', action: 'BLOCKED' }] } },
    ]
    const guard = await guardAgainst(() => intervened([], assessments))
    expect(await guard.check(textsOf(['hi']))).toEqual({ kind: 'reject', matched: [] })
  })

  it.each<[name: string, reply: object, message: string]>([
    ['another status', { status: 429, body: { message: 'hi' } }, 'the service answered with status 429'],
    ['an unknown action', { body: { action: 'PERHAPS' } }, 'the answer has no known action'],
    ['no action', { body: {} }, 'the answer has no known action'],
  ])('fails on %s', async (_, reply, message) => {
    const guard = await guardAgainst(() => ({ body: {}, ...reply }))
    await expect(guard.check(textsOf(['hi']))).rejects.toThrow(message)
  })

  it('fails if the signature is not accepted', async () => {
    const guard = await guardAgainst(guardrailReply(() => 'another-secret'))
    await expect(guard.check(textsOf(['hi']))).rejects.toThrow('the service answered with status 403')
  })

  it.each<[name: string, auth: BackendAuth | undefined, used: BackendAuth]>([
    ['keys of the environment', undefined, { cloudA: { region: 'eu-west-1' } }],
    ['keys of its own', { cloudA: { serviceName: 's' } }, { cloudA: { serviceName: 's', region: 'eu-west-1' } }],
    ['a region of its own', { cloudA: { region: 'us-east-1' } }, { cloudA: { region: 'us-east-1' } }],
    ['an API key', { key: { secret: 'ns/key' } }, { key: { secret: 'ns/key' } }],
  ])('calls the service of its region with %s', async (_, auth, used) => {
    open = await guardTestService(service())
    guardrailsA({ ...settings, policies: { tcp: {}, ...(auth && { auth }) } }, open.environment)
    expect(open.vendors).toEqual([
      { host: 'bedrock-runtime.eu-west-1.amazonaws.com', policies: { tcp: {}, auth: used } },
    ])
  })

  it('makes no call without a text', async () => {
    const guard = await guardAgainst(service())
    expect(await guard.check(textsOf([' ']))).toEqual({ kind: 'pass' })
    expect(open?.received).toEqual([])
  })

  it('is asked as the SDK of the vendor asks', async () => {
    const guard = await guardAgainst(service())
    await guard.check(textsOf(['ann@example.com']))
    vendor = new BedrockRuntimeClient({
      endpoint: `http://127.0.0.1:${open?.port}`,
      region: 'eu-west-1',
      credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'planted-secret' },
      maxAttempts: 1,
      requestHandler: new NodeHttpHandler(),
    })
    const verdict = await vendor.send(
      new ApplyGuardrailCommand({
        guardrailIdentifier: ARN,
        guardrailVersion: '3',
        source: 'INPUT',
        content: [{ text: { text: 'ann@example.com' } }],
      }),
    )
    expect(verdict).toMatchObject({
      action: 'GUARDRAIL_INTERVENED',
      outputs: [{ text: '{EMAIL}' }],
      assessments: [{ sensitiveInformationPolicy: { piiEntities: [{ type: 'EMAIL', action: 'ANONYMIZED' }] } }],
    })
    const [own, sdk] = (open?.received ?? []).map(({ method, target, json, headers }) => ({
      method,
      target,
      json,
      type: headers['content-type'],
    }))
    expect(own).toEqual(sdk)
  })
})
