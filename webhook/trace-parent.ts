/** Version, trace, span, flags; https://www.w3.org/TR/trace-context/#traceparent-header. */
const form = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** The trace that a call belongs to, so that a log line here is found from a trace there; undefined without one. */
export function traceOf(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined;
  const [, trace] = form.exec(header) ?? [];
  return trace;
}
