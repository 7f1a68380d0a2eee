/** Who may send requests. The same rule holds for HTTP and WebSocket. */
export interface AccessRule {
  /**
   * Origins whose pages may send requests; `*` for all. With a list, a request from an origin that is neither the endpoint's own
   * nor listed is refused with 403. Without CORS headers alone it would still be carried out. Requests without an origin are
   * answered: browsers send it with every POST and WebSocket, tools do not. `serve` lists none by default, handlers use `*`.
   */
  readonly allowedOrigins?: '*' | readonly string[] | undefined;
  /**
   * Host names (without port) under which the endpoint answers; any when left out. Protects from DNS rebinding: a site can point
   * its own name at any address. Without it only IP addresses and `localhost` count as the endpoint's own origin.
   */
  readonly allowedHosts?: readonly string[] | undefined;
}

/** Host names of loopback, as URLs have them. */
export const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/** Whether a name or an address, as a socket listens on it, is on loopback. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * The 403 for a request whose host or origin is not allowed; undefined if both are.
 *
 * @param request - anything with an address and headers, such as the opening of a WebSocket
 */
export function refusal(
  request: Pick<Request, 'url' | 'headers'>,
  { allowedHosts, allowedOrigins = '*' }: AccessRule,
): Response | undefined {
  const { hostname, origin: own } = new URL(request.url);
  if (allowedHosts !== undefined && !allowedHosts.includes(hostname)) return refuse('Host not authorized.');
  const origin = request.headers.get('origin');
  if (allowedOrigins === '*' || origin === null || allowedOrigins.includes(origin)) return undefined;
  const isOwn = origin === own && (allowedHosts !== undefined || cannotBeRebound(hostname));
  return isOwn ? undefined : refuse('Origin not authorized.');
}

/** Whether no site can have this host name: an IP address, or a name that browsers resolve to loopback. */
function cannotBeRebound(hostname: string): boolean {
  return /^\[|^\d+(\.\d+){3}$|^localhost$|\.localhost$/.test(hostname);
}

function refuse(message: string): Response {
  return new Response(JSON.stringify({ message }), { status: 403, headers: { 'content-type': 'application/json' } });
}
