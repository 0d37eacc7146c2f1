// `config.yaml`: what a proxy starts with. rawConfig below, typed fields above; what changes while it runs is delivered
// apart and never stands here.
import { stringify } from 'yaml'
import { isJsonObject } from './kube-object.ts'
import type { EffectiveParameters } from './parameters/effective.ts'

export function bootstrapConfig({ rawConfig, logging }: EffectiveParameters): string {
  const typed = logging.format === undefined ? {} : { logging: { format: logging.format } }
  // Keys in one order: the same settings are the same text, and the same checksum.
  return stringify(merge(rawConfig, { config: typed }), {
    sortMapEntries: true,
    lineWidth: 0,
    aliasDuplicateObjects: false,
  })
}

/** For the environment, which wins over the file: unset where only the file speaks. */
export function logLevelOf({ rawConfig, logging }: EffectiveParameters): string | undefined {
  if (logging.level !== undefined) return logging.level
  const { config } = rawConfig
  const given = isJsonObject(config) && isJsonObject(config['logging']) ? config['logging']['level'] : undefined
  return given === undefined ? 'info' : undefined
}

function merge(
  low: Readonly<Record<string, unknown>>,
  high: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged = new Map(Object.entries(low))
  for (const [key, value] of Object.entries(high)) {
    const below = merged.get(key)
    merged.set(key, isJsonObject(below) && isJsonObject(value) ? merge(below, value) : value)
  }
  return Object.fromEntries(merged)
}
