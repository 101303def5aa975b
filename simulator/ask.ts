import { at, type Payload, readPayload, textAt } from './xml/payload.ts'

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
  /** A payload, sent as `text/xml` unless the headers say otherwise. */
  body?: string
  /** The payload version in `Accept`. */
  version?: string
  headers?: Record<string, string>
  /** The country code. It is not sent if empty. */
  country?: string
}

/** Returns a function that sends requests to an API, for tests: `ask('Persons/3001')`. */
export const askerOf =
  (base: () => string) =>
  async (
    path: string,
    { method, body, version = '2.0', headers = {}, country = 'AU' }: SimulatorRequest = {},
  ): Promise<SimulatorResponse> => {
    const mark = path.includes('?') ? '&' : '?'
    const response = await fetch(`${base()}${path}${country && `${mark}countryCode=${country}`}`, {
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
    const code = xml?.name === 'AP21Error' ? Number(textAt(at(xml, 'ErrorCode'))) : undefined
    return { status: response.status, headers: response.headers, text, xml, code }
  }

export type Ask = ReturnType<typeof askerOf>
