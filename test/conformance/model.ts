// GwModel: models by name, their list, authorization, and virtual models.
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'

const SAMPLE = 'model.yaml'
const messages = [{ role: 'user' as const, content: 'hello there' }]
const ANSWER = 'You said: hello there'

function clientOf(gateway: SampleGateway, headers: Record<string, string> = {}): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'of-the-client', maxRetries: 0, defaultHeaders: headers })
}

async function answerOf(client: OpenAI, model: string, more: { user?: string; max_tokens?: number } = {}) {
  const reply = await client.chat.completions.create({ model, messages, ...more })
  return reply.choices[0]?.message.content
}

interface Refusal {
  readonly status: number
  readonly code: string
}

async function expectRefused(client: OpenAI, model: string, refusal: Refusal): Promise<void> {
  await expect(answerOf(client, model)).rejects.toMatchObject({ ...refusal, type: 'invalid_request_error' })
}

const SECRET_MODEL = `visibility: Internal
  provider: Custom
  custom:
    backendRef:
      name: model
      port: 80
`
const SECRET_MODEL_DOWN = SECRET_MODEL.replace('name: model', 'name: refusing').replace(
  'provider: Custom',
  `provider: Custom
  policies:
    health:
      unhealthyCondition: 'response.code >= 500'
      eviction:
        duration: 1h
        consecutiveFailures: 1`,
)
/** A Service whose endpoint refuses connections. */
const REFUSING = `---
apiVersion: v1
kind: Service
metadata:
  name: refusing
  namespace: default
spec:
  ports:
    - port: 80
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: refusing
  namespace: default
  labels:
    kubernetes.io/service-name: refusing
addressType: IPv4
ports:
  - name: ''
    port: 1
endpoints:
  - addresses: [127.0.0.1]
`

const NOT_FOUND = { status: 404, code: 'model_not_found' }
const DENIED = { status: 403, code: 'model_authorization_denied' }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'ModelByName',
    description:
      'requests for a name or pattern of a model are served, streaming or not, with the credential of the provider',
    sample: SAMPLE,
    async run(gateway) {
      const client = clientOf(gateway)
      expect(await answerOf(client, 'demo-small')).toBe(ANSWER)
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({
        path: '/v1/chat/completions',
        body: { model: 'demo-small' },
        headers: { authorization: 'Bearer demo-key' },
      })
      const stream = await client.chat.completions.create({ model: 'claude-any', messages, stream: true })
      let text = ''
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
      expect(text).toBe(ANSWER)
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({
        path: '/v1/messages',
        body: { model: 'claude-any' },
      })
    },
  },
  {
    shortName: 'ModelByGoogleSdk',
    description: 'requests of the SDK of Google name the model in their path, and reach a provider of another format',
    sample: SAMPLE,
    async run(gateway) {
      const { models } = new GoogleGenAI({ apiKey: 'of-the-client', httpOptions: { baseUrl: gateway.url } })
      const request = { model: 'demo-small', contents: 'hello there' }
      expect((await models.generateContent(request)).text).toBe(ANSWER)
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({
        path: '/v1/chat/completions',
        body: { model: 'demo-small' },
        headers: { authorization: 'Bearer demo-key' },
      })
      let text = ''
      for await (const chunk of await models.generateContentStream({ ...request, model: 'claude-any' })) {
        text += chunk.text ?? ''
      }
      expect(text).toBe(ANSWER)
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({
        path: '/v1/messages',
        body: { model: 'claude-any' },
      })
    },
  },
  {
    shortName: 'ModelList',
    description: 'the list has the models that the client may use by name',
    sample: SAMPLE,
    async run(gateway) {
      const namesFor = async (headers: Record<string, string>): Promise<string[]> => {
        const { data } = await clientOf(gateway, headers).models.list()
        return data.map(({ id }) => id)
      }
      expect(await namesFor({})).toEqual(['chosen', 'fast', 'steady', 'demo-small'])
      expect(await namesFor({ 'x-team': 'staff' })).toEqual(['chosen', 'fast', 'steady', 'demo-small', 'demo-staff'])
    },
  },
  {
    shortName: 'ModelRefused',
    description: 'unknown and internal models get 404, and models without permission 403',
    sample: SAMPLE,
    async run(gateway) {
      const client = clientOf(gateway)
      await expectRefused(client, 'unknown', NOT_FOUND)
      await expectRefused(client, 'demo-secret', NOT_FOUND)
      await expectRefused(client, 'demo-staff', DENIED)
      expect(await answerOf(clientOf(gateway, { 'x-team': 'staff' }), 'demo-staff')).toBe(ANSWER)
      const post = { method: 'POST', headers: { 'content-type': 'application/json' } }
      for (const [body, code] of [
        ['no json', 'invalid_request_body'],
        ['{}', 'missing_model'],
      ] as const) {
        const { status, text } = await gateway.ask('/v1/chat/completions', { ...post, body })
        expect([status, JSON.parse(text)]).toMatchObject([400, { error: { code } }])
      }
    },
  },
  {
    shortName: 'ModelWeighted',
    description: 'a virtual model selects a target by weight and sends the model of the target',
    sample: SAMPLE,
    async run(gateway) {
      const seen = new Set<unknown>()
      // One of them would be missing in one run of 2^63.
      for (let i = 0; i < 64 && seen.size < 2; i++) {
        expect(await answerOf(clientOf(gateway), 'fast')).toBe(ANSWER)
        seen.add(gateway.upstreams.lastModelRequest().body['model'])
      }
      expect(seen).toEqual(new Set(['demo-small', 'claude-fast']))
    },
  },
  {
    shortName: 'ModelFailover',
    description: 'the model of the lowest priority number serves',
    sample: SAMPLE,
    async run(gateway) {
      expect(await answerOf(clientOf(gateway), 'steady')).toBe(ANSWER)
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({ body: { model: 'demo-secret' } })
    },
  },
  {
    shortName: 'ModelFailoverNext',
    description: 'a target that does not exist is skipped and reported in the status',
    sample: SAMPLE,
    change: replacing('name: demo-secret\n          priority: 0', 'name: missing\n          priority: 0'),
    async run(gateway) {
      expect(await answerOf(clientOf(gateway), 'steady')).toBe(ANSWER)
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({ body: { model: 'claude-spare' } })
      expect(gateway.source.problems).toMatchObject([
        { path: 'spec.virtualModel.failover.targets[0]', message: 'model target default/missing not found' },
      ])
    },
  },
  {
    shortName: 'ModelFailoverDown',
    description: 'while the model of the lowest priority number is down, the next one serves',
    sample: SAMPLE,
    change: (manifests) => replacing(SECRET_MODEL, SECRET_MODEL_DOWN)(manifests) + REFUSING,
    async run(gateway) {
      expect(await answerOf(clientOf(gateway), 'steady')).toBe(ANSWER)
      const request = gateway.upstreams.lastModelRequest()
      expect(request).toMatchObject({ body: { model: 'claude-spare' }, headers: { 'x-retry-attempt': '1' } })
    },
  },
  {
    shortName: 'ModelConditional',
    description: 'the first target whose condition is true is used, and its authorization applies',
    sample: SAMPLE,
    async run(gateway) {
      const client = clientOf(gateway)
      expect(await answerOf(client, 'chosen', { max_tokens: 2000 })).toBe(ANSWER)
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({ body: { model: 'claude-long' } })
      expect(await answerOf(client, 'chosen')).toBe(ANSWER)
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({ body: { model: 'demo-secret' } })
      await expect(answerOf(client, 'chosen', { user: 'chief' })).rejects.toMatchObject(DENIED)
    },
  },
  {
    shortName: 'ModelBesideRoute',
    description: 'an HTTPRoute of the listener serves paths that LLM clients do not use',
    sample: SAMPLE,
    async run(gateway) {
      const { text } = await gateway.ask('/elsewhere')
      expect(text).not.toContain('model_not_found')
    },
  },
  {
    shortName: 'ModelNotAllowed',
    description: 'a listener that does not list the kind accepts no models',
    sample: SAMPLE,
    change: replacing('          - group: gw.dev\n            kind: GwModel\n', ''),
    async run(gateway) {
      expect(gateway.conditions('GwModel', 'demo-small')).toMatchObject([
        { type: 'Accepted', status: 'False', reason: 'NotAllowedByListeners' },
        { type: 'ResolvedRefs', status: 'True' },
      ])
      await expect(clientOf(gateway).models.list()).rejects.toThrow(/^[45]\d\d /)
    },
  },
]
