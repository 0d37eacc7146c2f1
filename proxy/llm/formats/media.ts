// Data and URLs of images and files: the formats of OpenAI have both as one URL.
import type { MediaSource } from '../canonical/request.ts'

const DATA_URL = /^data:([^;,]*)(?:;[^;,]+)*;base64,/i

/** `url`: also a `data:` URL. */
export function mediaOf(url: string): MediaSource {
  const [head, type = ''] = DATA_URL.exec(url) ?? []
  return head === undefined
    ? { kind: 'url', url }
    : { kind: 'base64', mediaType: normalType(type), data: url.slice(head.length) }
}

/** Data of a file with or without `data:` in front. Without a type, it is a PDF file. */
export function fileSource(data: string): MediaSource {
  return /^data:/i.test(data) ? mediaOf(data) : { kind: 'base64', mediaType: 'application/pdf', data }
}

/** undefined: a file that is kept elsewhere. */
export function urlOf(source: MediaSource): string | undefined {
  switch (source.kind) {
    case 'url':
      return source.url
    case 'base64':
      return `data:${source.mediaType};base64,${source.data}`
    case 'text':
      return `data:text/plain;base64,${Buffer.from(source.text).toString('base64')}`
    case 'file':
  }
  return undefined
}

/** Vendors reject `image/jpg`. */
export function normalType(mediaType: string): string {
  const lower = mediaType.toLowerCase()
  return lower === 'image/jpg' ? 'image/jpeg' : lower
}

/** How base64 of each type begins. */
const IMAGE_STARTS = [
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const

/** `data`: base64. */
export function imageTypeOf(data: string): string {
  return IMAGE_STARTS.find(([start]) => data.startsWith(start))?.[1] ?? 'image/png'
}
