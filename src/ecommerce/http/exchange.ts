import { PlatformFailure } from '../../domain/ecommerce/platform-failure.ts'

export interface Exchange {
  method: 'GET' | 'POST'
  url: URL
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
}

export interface JsonResponse {
  status: number
  headers: Headers
  /** Undefined if the body is no JSON. */
  body: unknown
}

const timeoutMs = 30_000

/** Sends a request and reads the whole response. Throws `PlatformFailure` if no response arrives. Follows no redirect. */
export async function exchange({ url, signal, ...request }: Exchange): Promise<JsonResponse> {
  try {
    const response = await fetch(url, {
      ...request,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    return { status: response.status, headers: response.headers, body: parseJson(await response.text()) }
  } catch (cause) {
    signal.throwIfAborted()
    throw new PlatformFailure('unavailable', 'The platform did not respond.', { cause })
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return
  }
}
