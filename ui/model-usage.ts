// What requests to models used since midnight, or since the start of the proxy.
import { modelUsage, type ModelUsage } from './api.ts'

export function usageToday(signal: AbortSignal): Promise<ModelUsage> {
  return modelUsage(midnight(), signal)
}

export function usageSinceStart(signal: AbortSignal): Promise<ModelUsage> {
  return modelUsage(undefined, signal)
}

/** The last one where the browser is. */
function midnight(): Date {
  const day = new Date()
  day.setHours(0, 0, 0, 0)
  return day
}

/** When the figures begin. A proxy that started today has none since midnight. */
export function sinceText({ since, isSinceStart }: Pick<ModelUsage, 'since' | 'isSinceStart'>): string {
  const time = timeText(since)
  if (isSinceStart) return `Since the start of the proxy, ${time}.`
  return `Since ${time} (${Intl.DateTimeFormat().resolvedOptions().timeZone}).`
}

/** `2026-12-01 09:24`, where the browser is. */
export function timeText(time: string): string {
  const date = new Date(time)
  const two = (part: number): string => String(part).padStart(2, '0')
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(two).join('-')
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}
