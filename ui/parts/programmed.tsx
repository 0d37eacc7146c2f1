// Whether a Gateway is programmed, and if not, why and since when.
import type { GatewayOverview } from '#api/admin/controller-overview.ts'

export function Programmed({ programmed }: Pick<GatewayOverview, 'programmed'>) {
  if (programmed === undefined) return <span class="warn">not yet</span>
  const { isTrue, message, since } = programmed
  if (isTrue) return <span class="good">yes</span>
  return (
    <div class="sentence">
      <span class="bad">{`no: ${message}`}</span>
      {since !== undefined && <span class="soft">{` since ${timeText(since)}`}</span>}
    </div>
  )
}

/** In the time zone of the user. */
function timeText(time: string): string {
  return new Date(time).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
}
