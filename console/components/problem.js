import { ApiError } from '../lib/api.js'
import { html } from '../lib/html.js'
import { RequestLink } from './request-link.js'

/**
 * An error with what it is, what to do, its code and the request's id.
 * @param {{ error: unknown, remedy?: string }} props `remedy` where people do something else than programs
 */
export function Problem({ error, remedy }) {
  if (!(error instanceof ApiError))
    return html`<div class="problem" role="alert"><p><b>This screen has a fault.</b></p><p>${String(error)}</p></div>`
  const { code, title, detail, requestId, errors } = error.problem
  return html`<div class="problem" role="alert">
    <p><b>${title}</b>${detail && detail !== title ? ` ${detail}` : ''}</p>
    ${errors && errors.length > 1 && html`<ul>${errors.map(each => html`<li>${each.detail}</li>`)}</ul>`}
    ${(remedy ?? error.remedy) && html`<p>${renderCode(remedy ?? error.remedy)}</p>`}
    <p class="facts">
      <a href=${`errors/${code}`} target="_blank" rel="noopener">${code}</a>
      ${requestId && html` <span>request <${RequestLink} id=${requestId} /></span>`}
    </p>
  </div>`
}

/** Words between backticks are code. @param {string | undefined} text */
export const renderCode = (text = '') => text.split('`').map((part, i) => (i % 2 ? html`<code>${part}</code>` : part))
