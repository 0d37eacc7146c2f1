// The settings of the process as `/config_dump` shows them: without secrets, with what was learned since the start.
import type { MeshMember } from '../mesh/mesh-member.ts'
import { type OfferedCatalog, shownCatalog } from '../llm/cost/offered-catalog.ts'
import { shownOtlp } from '../otlp/environment.ts'
import type { ProxySettings } from './settings.ts'

export interface LearnedSettings {
  readonly mesh: MeshMember | undefined
  readonly catalog: OfferedCatalog | undefined
  readonly configGeneration: number
}

export function shownSettings(
  { sessionKeys, ...settings }: ProxySettings,
  { mesh, catalog, configGeneration }: LearnedSettings,
): Readonly<Record<string, unknown>> {
  return {
    ...settings,
    sessionKeys: sessionKeys === undefined ? 'random' : '<redacted>',
    otlp: shownOtlp(settings.otlp),
    ...(mesh && { mesh: mesh.shown() }),
    modelCatalog: shownCatalog(catalog),
    configGeneration,
  }
}
