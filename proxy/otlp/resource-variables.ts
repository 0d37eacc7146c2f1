// The environment variables that resources are made from. The main thread reads them at its start, without the messages
// of OTLP.

export type Environment = Readonly<Record<string, string | undefined>>

/** With or without the prefix. */
export const RESOURCE_VARIABLES = [
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SERVICE_NAME',
  'GATEWAY',
  'NAMESPACE',
  'POD_NAMESPACE',
  'POD_NAME',
  'NODE_NAME',
  'INSTANCE_IP',
] as const

/** `key=value,…`, percent-encoded (OpenTelemetry, "Specifying resource information via an environment variable"). */
export function pairsOf(list: string): [string, string][] {
  return list.split(',').flatMap((part): [string, string][] => {
    const equals = part.indexOf('=')
    const name = part.slice(0, Math.max(0, equals)).trim()
    return name === '' ? [] : [[decoded(name), decoded(part.slice(equals + 1).trim())]]
  })
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
