// Parses a response of the processor, by the message that it is about. Does not apply it.
import type { JsonObject } from '@bufbuild/protobuf'
import type { ProcessingMode } from '../../../envoy/gen/envoy/extensions/filters/http/ext_proc/v3/processing_mode.gen.ts'
import type {
  CommonResponse,
  HeaderMutation,
  ImmediateResponse,
  ProcessingResponse,
} from '../../../envoy/gen/envoy/service/ext_proc/v3/external_processor.gen.ts'
import type { SideName } from './modes.ts'

export type AnswerKind = 'Headers' | 'Body' | 'Trailers'

export interface Answer {
  readonly kind: AnswerKind
  readonly side: SideName
  readonly headerMutation: HeaderMutation | undefined
  /** Of headers and bodies. */
  readonly common: CommonResponse | undefined
  readonly modeOverride: ProcessingMode | undefined
  readonly metadata: JsonObject | undefined
}

export interface ImmediateAnswer {
  readonly kind: 'Immediate'
  readonly response: ImmediateResponse
}

/** undefined: its message is unknown to this version. */
export function answerOf(message: ProcessingResponse): Answer | ImmediateAnswer | undefined {
  const { response, modeOverride, dynamicMetadata: metadata } = message
  if (response.case === undefined) return undefined
  if (response.case === 'immediateResponse') return { kind: 'Immediate', response: response.value }
  const side = response.case.startsWith('request') ? 'request' : 'response'
  if (response.case === 'requestTrailers' || response.case === 'responseTrailers') {
    const { headerMutation } = response.value
    return { kind: 'Trailers', side, headerMutation, common: undefined, modeOverride, metadata }
  }
  const common = response.value.response
  const kind = response.case.endsWith('Headers') ? 'Headers' : 'Body'
  return { kind, side, headerMutation: common?.headerMutation, common, modeOverride, metadata }
}
