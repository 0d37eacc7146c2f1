// The providers by name, and what a configured one is for the requests that it answers.
import type { AIProvider, Backend, BackendAuth, ProviderSettings } from '#api/ir/types.gen.ts'
import type { FormatName, SentFormatName } from '#api/llm/formats.ts'
import { type ProviderName, PROVIDER_NAMES, PROVIDERS as NAMES } from '#api/llm/providers.ts'
import { providerHost } from '../../backend/provider-address.ts'
import { FORMATS } from '../formats/table.ts'
import type { JsonObject } from '../json.ts'
import { type Conversion, conversionFrom } from '../translate/table.ts'
import { anthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import { bedrock } from './bedrock.ts'
import { custom } from './custom.ts'
import { gemini } from './gemini.ts'
import { openai } from './openai.ts'
import type { Paths, Provider, RequestFacts } from './provider.ts'
import { vertex } from './vertex.ts'

const PROVIDERS: { readonly [N in ProviderName]: Provider<NonNullable<ProviderSettings[N]>> } = {
  openai,
  'azure-openai': azure,
  'azure-foundry': azure,
  anthropic,
  gemini,
  vertex,
  bedrock,
  custom,
}

/** A provider with its settings. */
export interface ProviderProfile extends Pick<Provider<unknown>, 'keepsClientPath' | 'ownQuery' | 'prepareHeaders'> {
  readonly telemetryName: string
  /** undefined: the provider has no address of its own. */
  readonly defaultHost: string | undefined
  /** Applies where no policy sets `auth`; undefined: what the client sent. */
  readonly defaultAuth: BackendAuth | undefined
  readonly model: string | undefined
  /** By the format of the client; undefined: the provider has no format for it. */
  conversion(client: FormatName, model: string): Conversion | undefined
  readonly path: Paths
  /** Region of AWS for signatures where `auth` names none. */
  readonly signingRegion: string | undefined
  /** Adds to a request what only the provider has; undefined: nothing. @throws {Untranslatable} */
  readonly finish: ((body: JsonObject, facts: RequestFacts) => void) | undefined
}

/** undefined: this version cannot call the provider. */
export function providerProfile(configured: AIProvider): ProviderProfile | undefined {
  const served = servedOf(configured)
  if (served === undefined) return undefined
  const { name, provider, settings } = served
  const { pathOverride, pathPrefix } = configured
  const spoken = provider.formats(settings)
  return {
    telemetryName: configured.service ?? NAMES[name].telemetryName,
    defaultHost: providerHost(configured),
    defaultAuth: defaultAuth(name),
    model: provider.model(settings),
    conversion: (client, model) => conversionsTo(spoken(model)).get(client),
    path: pathOverride === undefined ? provider.paths(settings, pathPrefix) : () => pathOverride,
    keepsClientPath: provider.keepsClientPath,
    ...(provider.ownQuery !== undefined && { ownQuery: provider.ownQuery }),
    signingRegion: provider.signingRegion?.(settings),
    finish: provider.finish && ((body, facts) => provider.finish?.(body, settings, facts)),
    prepareHeaders: (headers, credential, sent) => provider.prepareHeaders(headers, credential, sent),
  }
}

/** By the formats of a provider, which are few sets. */
const CONVERSIONS = new WeakMap<ReadonlySet<SentFormatName>, ReadonlyMap<FormatName, Conversion>>()

function conversionsTo(spoken: ReadonlySet<SentFormatName>): ReadonlyMap<FormatName, Conversion> {
  const made = CONVERSIONS.get(spoken)
  if (made !== undefined) return made
  const conversions = Object.values(FORMATS).flatMap((format) => {
    const conversion = conversionFrom(format, spoken)
    return conversion === undefined ? [] : [[format.name, conversion] as const]
  })
  const all = new Map(conversions)
  CONVERSIONS.set(spoken, all)
  return all
}

const AMBIENT = {
  cloudA: { cloudA: {} },
  cloudB: { cloudB: {} },
  cloudC: { cloudC: { type: 'AccessToken' } },
} as const satisfies Readonly<Record<string, BackendAuth>>

/** Credentials of the environment for providers of a cloud. */
export function defaultAuth(name: ProviderName): BackendAuth | undefined {
  const { ambientAuth } = NAMES[name]
  return ambientAuth && AMBIENT[ambientAuth]
}

/** Whether a model at this backend can be called: not where it is refused, or no provider of it is known here. */
export function isServed(backend: Backend | undefined): boolean {
  if (backend === undefined || backend.invalid !== undefined || backend.unsupported !== undefined) return false
  const { ai } = backend
  return ai === undefined || ai.groups.some(({ providers }) => providers.some((one) => servedOf(one) !== undefined))
}

/** The settings are those of the provider: the compiler lost the connection between the two. */
interface Served {
  readonly name: ProviderName
  readonly provider: Provider<unknown>
  readonly settings: unknown
}

function servedOf({ provider }: AIProvider): Served | undefined {
  const name = PROVIDER_NAMES.find((one) => provider[one] !== undefined)
  return name === undefined ? undefined : { name, provider: PROVIDERS[name], settings: provider[name] }
}
