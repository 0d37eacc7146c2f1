# Fields of the Envoy API that are newer than the copy in @grpc/grpc-js-xds. Numbers are those of the Envoy repository.
# Each rule names the line it follows; hack/update-envoy-protos.sh checks that all of them found theirs.

# envoy/extensions/common/ratelimit/v3/ratelimit.proto
/^import "envoy\/type\/v3\/token_bucket.proto";/a import "google/protobuf/wrappers.proto";
/^  RateLimitOverride limit = 2;/a\  google.protobuf.UInt64Value hits_addend = 3;

# envoy/extensions/filters/http/ext_proc/v3/processing_mode.proto
/^    BUFFERED_PARTIAL = 3;/a\    FULL_DUPLEX_STREAMED = 4;

# envoy/service/ext_proc/v3/external_processor.proto
/^  bool observability_mode = 10;/a\  ProtocolConfiguration protocol_config = 11;
/^    bool clear_body = 2;/a\    StreamedBodyResponse streamed_response = 3;
/^message BodyMutation {/i\
message StreamedBodyResponse {\
  bytes body = 1;\
  bool end_of_stream = 2;\
}\
\
message ProtocolConfiguration {\
  envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode request_body_mode = 1;\
  envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode response_body_mode = 2;\
  bool send_body_without_waiting_for_header_response = 3;\
}\

