// Why a configuration cannot be served, for the log and the status.
import { ConfigError } from '../config/compiled.ts'
import { defects } from '../exchange/defects.ts'

/** What neither the configuration nor a port is to blame for is a bug. */
export function rejectionReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const isExpected = error instanceof ConfigError || (error instanceof Error && 'code' in error)
  if (isExpected) return message
  defects.report('configuration', error)
  return `internal error: ${message}`
}
