import { type Element, el, fields } from '../xml/element.ts'
import type { RejectedRequest } from './errors.ts'
import type { ApiRequest } from './request.ts'

export interface ApiResponse {
  status: number
  headers: Record<string, string>
  /** An element for XML, a string for an HTML page, or undefined for an empty body. */
  body: Element | string | undefined
  errorCode?: number
}

export const respondOk = (body?: Element): ApiResponse => ({ status: 200, headers: {}, body })

/** Returns 201 with the `Location` of the new record. */
export const respondCreated = (request: ApiRequest, path: string): ApiResponse => ({
  status: 201,
  headers: { location: `${request.root}${path}?countryCode=${encodeURIComponent(request.country.code)}` },
  body: undefined,
})

export const respondRejected = ({ status, code, message }: RejectedRequest): ApiResponse => ({
  status,
  headers: {},
  body: el('AP21Error', fields({ ErrorCode: code, Description: message })),
  errorCode: code,
})

const phrases: Record<number, string> = {
  401: 'Unauthorized: Access is denied due to invalid credentials.',
  404: 'File or directory not found.',
  405: 'HTTP verb used to access this page is not allowed.',
  413: 'Request entity too large.',
  429: 'Too many requests.',
  500: 'Internal server error.',
  503: 'Service Unavailable.',
}

/** Returns a failure of the web server in front of the API: an XHTML page like those of IIS. */
export function respondFailure(status: number, headers: Record<string, string> = {}): ApiResponse {
  const phrase = phrases[status] ?? 'Error.'
  const body = `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1"/>
<title>${status} - ${phrase}</title>
</head>
<body>
<div id="header"><h1>Server Error</h1></div>
<div id="content"><fieldset><h2>${status} - ${phrase}</h2></fieldset></div>
</body>
</html>
`
  return { status, headers, body }
}
