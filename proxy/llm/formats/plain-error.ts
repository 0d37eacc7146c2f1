// Errors that are in no format of models: of frameworks that serve open models, and of gateways in front of providers.
import type { ModelError } from '../canonical/answer.ts'
import { asArray, asObject, asString, type JsonObject } from '../json.ts'
import { kindOfStatus } from './error-kind.ts'

/** Reports of single fields. */
const DETAILS_MAX = 8

/** `status`: of HTTP. undefined: the body has no message, or stands within a stream. */
export function plainError(body: JsonObject, status: number | undefined): ModelError | undefined {
  const kind = kindOfStatus(status)
  const message = messageIn(body)
  if (kind === undefined || message === undefined) return undefined
  return { kind, message, vendorType: undefined, vendorCode: undefined }
}

function messageIn({ message, Message, error, detail }: JsonObject): string | undefined {
  return asString(message) ?? asString(Message) ?? asString(error) ?? asString(detail) ?? fieldReports(detail)
}

/** As FastAPI has them: `[{"loc": ["body", "model"], "msg": "Field required"}]`. */
function fieldReports(detail: unknown): string | undefined {
  const reports = asArray(detail).slice(0, DETAILS_MAX).map(asObject)
  const texts = reports.flatMap(({ loc, msg }) => {
    const text = asString(msg)
    if (text === undefined) return []
    const path = asArray(loc).filter((step) => typeof step === 'string' || typeof step === 'number')
    return [path.length === 0 ? text : `${path.join('.')}: ${text}`]
  })
  return texts.length === 0 ? undefined : texts.join('; ')
}
