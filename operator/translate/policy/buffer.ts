// traffic.buffer. Nothing in it can be broken once the schema has accepted it.
import type { BufferBody as RenderedBody, TrafficPayload } from '#api/ir/types.gen.ts'
import { parseByteSize } from '#api/units/byte-size.ts'
import type { BufferBody, TrafficBuffer } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { FieldTranslator } from './field.ts'

export const buffer: FieldTranslator<TrafficBuffer, TrafficPayload> = {
  failureMode: 'keep',
  translate: ({ request, response }) => [
    {
      suffix: 'buffer',
      payload: {
        buffer: {
          ...(request !== undefined && { request: renderBody(request) }),
          ...(response !== undefined && { response: renderBody(response) }),
        },
      },
    },
  ],
}

function renderBody({ maxBytes, failureMode = 'FailClosed' }: BufferBody): RenderedBody {
  const size = maxBytes === undefined ? undefined : parseByteSize(maxBytes)
  return { ...(size !== undefined && 'bytes' in size && { bytesMax: size.bytes }), failureMode }
}
