import { findElement, findText, type Payload, readPayload } from './xml/payload.ts'

export interface SimulatorResponse {
  status: number
  headers: Headers
  text: string
  /** Undefined if the body is not XML. */
  xml: Payload | undefined
  /** The code of the AP21Error. */
  code: number | undefined
}

interface SimulatorRequest {
  method?: string
  /** A payload. Its content type is `text/xml` unless `headers` contain another one. */
  body?: string
  /** The payload version in `Accept`. */
  version?: string
  headers?: Record<string, string>
  /** The country code. If empty, it isn't sent. */
  country?: string
}

/** Creates a function that sends requests to a simulator, for tests: `send('Persons/3001')`. */
export const createSender =
  (base: () => string) =>
  async (
    path: string,
    { method, body, version = '2.0', headers = {}, country = 'AU' }: SimulatorRequest = {},
  ): Promise<SimulatorResponse> => {
    const separator = path.includes('?') ? '&' : '?'
    const response = await fetch(`${base()}${path}${country && `${separator}countryCode=${country}`}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { accept: `version_${version}`, ...(body !== undefined && { 'content-type': 'text/xml' }), ...headers },
      redirect: 'manual',
      ...(body !== undefined && { body }),
    })
    // `text()` would remove a byte order mark.
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer())
    let xml: Payload | undefined
    try {
      xml = readPayload(text.replace(/^\uFEFF/, ''))
    } catch {}
    const code = xml?.name === 'AP21Error' ? Number(findText(findElement(xml, 'ErrorCode'))) : undefined
    return { status: response.status, headers: response.headers, text, xml, code }
  }

export type Send = ReturnType<typeof createSender>
