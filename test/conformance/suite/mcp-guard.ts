// A guardrail service of MCP for samples, by the text of calls: rejects `forbidden`, replaces `password` in arguments
// and results, and reports the tenant of the metadata.
import { create } from '@bufbuild/protobuf'
import {
  CheckRequestOutputSchema,
  CheckResponseOutputSchema,
  ExtMcp,
  McpError_Code,
} from '#proxy/mcp/guardrails/gen/gw/dev/ext_mcp/ext_mcp.gen.ts'
import { unaryMethod } from '#proxy/grpc/server.testing.ts'

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('utf8')
const masked = (json: string, mask: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(json.replaceAll('password', mask)))

const checkRequest = unaryMethod(ExtMcp.method.checkRequest, ({ request }, reply) => {
  const params = text(request.mcpRequest)
  const names = request.headers.map(({ key }) => key)
  const isForbidden = params.includes('forbidden')
  reply(
    null,
    create(CheckRequestOutputSchema, {
      result: isForbidden
        ? { case: 'error', value: { code: McpError_Code.PERMISSION_DENIED, reason: 'not this text' } }
        : params.includes('password')
          ? { case: 'mutated', value: masked(params, 'first') }
          : { case: 'pass', value: {} },
      metadata: { tenant: request.metadataContext?.['tenant'] ?? 'none', names: names.join(',') },
    }),
  )
})

const checkResponse = unaryMethod(ExtMcp.method.checkResponse, ({ request }, reply) => {
  const result = text(request.mcpResponse)
  reply(
    null,
    create(CheckResponseOutputSchema, {
      result: result.includes('FIRST')
        ? { case: 'error', value: { code: McpError_Code.RESOURCE_EXHAUSTED, reason: 'too loud' } }
        : { case: 'mutated', value: new Uint8Array(Buffer.from(result.replaceAll('first', 'second'))) },
    }),
  )
})

export const mcpGuard = [checkRequest, checkResponse] as const
