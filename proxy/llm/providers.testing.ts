// A provider of each format for tests: its settings, and its answers as bytes.
import type { AIProvider } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { CLIENT_ROUTES } from './translate/client-requests.testing.ts'
import { converseAnswer, converseException, converseStream } from './translate/converse.testing.ts'
import { type Scenario, VENDORS, type VendorName } from './translate/vendors.testing.ts'

export const CLIENT_NAMES: readonly VendorName[] = ['Completions', 'Messages', 'Responses', 'GenerateContent']

export interface TestProvider {
  readonly settings: AIProvider['provider']
  /** undefined: no client has its format. */
  readonly client: VendorName | undefined
  readonly streamType: string
  readonly whole: (scenario: Scenario) => string
  readonly frames: (scenario: Scenario) => readonly Buffer[]
  /** As an event of a stream. */
  readonly error: Buffer
}

const vendor = (name: VendorName, settings: AIProvider['provider']): TestProvider => ({
  settings,
  client: name,
  streamType: 'text/event-stream',
  whole: (scenario) => JSON.stringify(VENDORS[name].whole(scenario)),
  frames: (scenario) => VENDORS[name].stream(scenario).map((frame) => Buffer.from(frame)),
  error: Buffer.from(VENDORS[name].errorFrame('too busy')),
})

export const PROVIDERS = {
  completions: vendor('Completions', { custom: { formats: [{ type: 'Completions' }] } }),
  messages: vendor('Messages', { anthropic: {} }),
  responses: vendor('Responses', { custom: { formats: [{ type: 'Responses' }] } }),
  gemini: vendor('GenerateContent', { gemini: {} }),
  converse: {
    settings: { bedrock: { region: 'us-west-2' } },
    client: undefined,
    streamType: 'application/vnd.amazon.eventstream',
    whole: (scenario) => JSON.stringify(converseAnswer(scenario)),
    frames: converseStream,
    error: converseException('throttlingException', 'too busy'),
  },
} as const satisfies Readonly<Record<string, TestProvider>>

export type ProviderName = keyof typeof PROVIDERS

/** The keys of an object literal. */
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as readonly ProviderName[]

export const ALL_PAIRS = PROVIDER_NAMES.flatMap((name) => CLIENT_NAMES.map((client) => [name, client] as const))

interface RouteSettings {
  /** In front of the name of the provider. */
  readonly prefix: string
  readonly requestMs?: number
}

/** With a route `/PREFIXNAME` for each provider, all at one port. */
export function providersGateway(
  port: number,
  routes: readonly RouteSettings[],
  settings: NonNullable<Parameters<typeof testProxy>[0]['settings']>,
): Promise<TestProxy> {
  const key = { accessKey: { secret: 'n/k/id' }, secretKey: { secret: 'n/k/key' } }
  return testProxy({
    secrets: { 'n/k/id': 'AKIATEST', 'n/k/key': 'planted-secret' },
    routes: routes.flatMap(({ prefix, requestMs }) =>
      PROVIDER_NAMES.map((name) => ({
        name: prefix + name,
        prefix: `/${prefix}${name}`,
        ...(requestMs !== undefined && { inline: { timeouts: { requestMs } } }),
        backend: {
          ai: {
            groups: [
              {
                providers: [
                  { name: 'p', provider: PROVIDERS[name].settings, hostOverride: { host: '127.0.0.1', port } },
                ],
              },
            ],
          },
          inlinePolicies: {
            ai: { routes: CLIENT_ROUTES },
            ...(name === 'converse' && { auth: { cloudA: { secretRef: key } } }),
          },
        },
      })),
    ),
    settings,
  })
}
