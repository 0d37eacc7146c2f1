// traffic.cors, and the CORS filter of a rule: both have the fields of Gateway API's filter.
import type { Cors, TrafficPayload } from '#api/ir/types.gen.ts'
import type { CORS } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { FieldTranslator } from './field.ts'

export const cors: FieldTranslator<CORS, TrafficPayload> = {
  failureMode: 'deny',
  translate: (value) => [{ suffix: 'cors', payload: { cors: renderCors(value) } }],
}

export function renderCors(value: CORS): Cors {
  const { allowOrigins, allowMethods, allowHeaders, exposeHeaders, allowCredentials, maxAge } = value
  return {
    ...(allowOrigins !== undefined && { allowOrigins: [...allowOrigins] }),
    ...(allowMethods !== undefined && { allowMethods: [...allowMethods] }),
    ...(allowHeaders !== undefined && { allowHeaders: [...allowHeaders] }),
    ...(exposeHeaders !== undefined && { exposeHeaders: [...exposeHeaders] }),
    ...(allowCredentials !== undefined && { allowCredentials }),
    ...(maxAge !== undefined && { maxAgeSeconds: maxAge }),
  }
}
