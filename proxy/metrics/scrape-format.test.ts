import { describe, expect, it } from 'vitest'
import { scrapeFormat } from './scrape-format.ts'

const PROTOBUF = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited'
/** As Prometheus asks, with native histograms and without. */
const TEXTS =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,' +
  'application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,' +
  'text/plain;version=0.0.4;q=0.2,*/*;q=0.1'

describe('scrapeFormat', () => {
  it.each([
    [undefined, 'text'],
    ['', 'text'],
    ['*/*', 'text'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text'],
    [TEXTS, 'openMetrics'],
    [`${PROTOBUF};q=0.6,${TEXTS}`, 'protobuf'],
    [`${TEXTS},${PROTOBUF};q=0.6`, 'protobuf'],
    [`${PROTOBUF};q=0.05,${TEXTS}`, 'openMetrics'],
    ['Application/OpenMetrics-Text', 'openMetrics'],
    ['text/plain, application/openmetrics-text', 'text'],
    ['text/plain;q=0.1, application/openmetrics-text;q=0', 'text'],
    ['application/openmetrics-text;q=high', 'text'],
    ['application/vnd.google.protobuf', 'protobuf'],
    ['application/vnd.google.protobuf;encoding=text', 'text'],
    ['application/vnd.google.protobuf;proto=other', 'text'],
  ])('of %j is %s', (accept, format) => {
    expect(scrapeFormat(accept)).toBe(format)
  })
})
