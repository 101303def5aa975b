import { ApiError } from '../lib/api.js'
import { html } from '../lib/html.js'
import { isCatalogued } from '../lib/remedies.js'
import { rich } from '../lib/text.js'
import { RequestLink } from './request-link.js'

/**
 * An error with its remedy, code and request ID.
 * @param {{ error: unknown, remedy?: string }} props `remedy`: replaces the catalogue's remedy, which addresses API clients
 */
export function Problem({ error, remedy }) {
  if (!(error instanceof ApiError))
    return html`<div class="problem" role="alert"><p><b>Something went wrong on this screen</b></p><p>${String(error)}</p></div>`
  const { code, title, detail, requestId, errors } = error.problem
  return html`<div class="problem" role="alert">
    <p><b>${title}</b>${detail && detail !== title && html` ${renderCode(detail)}`}</p>
    ${errors && errors.length > 1 && html`<ul>${errors.map(entry => html`<li>${renderCode(entry.detail)}</li>`)}</ul>`}
    ${(remedy ?? error.remedy) && html`<p>${renderCode(remedy ?? error.remedy)}</p>`}
    <p class="facts">
      ${isCatalogued(code) && html`<a href=${`errors/${code}`} target="_blank" rel="noopener">${code}</a>`}
      ${requestId && html` <span>${rich('request {link}', { link: html`<${RequestLink} id=${requestId} />` })}</span>`}
    </p>
  </div>`
}

/** Renders the words between backticks as code. @param {string | undefined} text */
export const renderCode = (text = '') => text.split('`').map((part, i) => (i % 2 ? html`<code>${part}</code>` : part))
