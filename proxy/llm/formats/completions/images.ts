// Images in messages of the assistant. The format of OpenAI has none: providers of other models, and gateways, agree on
// a member `images` with parts as those of requests, in messages and deltas.
import type { AnswerImage } from '../../canonical/answer.ts'
import { asArray, asObject, asString, type JsonObject } from '../../json.ts'
import { mediaOf, urlOf } from '../media.ts'

/** Of a message or a delta. Images by URL are left out: other formats have only data. */
export function decodeImages({ images }: JsonObject): readonly ({ readonly kind: 'image' } & AnswerImage)[] {
  return asArray(images).flatMap((image) => {
    const url = asString(asObject(asObject(image)['image_url'])['url'])
    const source = url === undefined ? undefined : mediaOf(url)
    return source?.kind === 'base64' ? [{ kind: 'image', mediaType: source.mediaType, data: source.data }] : []
  })
}

export function encodeImage({ mediaType, data }: AnswerImage): JsonObject {
  return { type: 'image_url', image_url: { url: urlOf({ kind: 'base64', mediaType, data }) } }
}
