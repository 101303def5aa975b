import { html } from '../lib/html.js'
import { linkTo } from '../lib/route.js'
import { rich } from '../lib/text.js'
import { Accounts } from './accounts/list.js'

/** The people with access to the service. */
export const Screen = () => html`<h1>Team</h1>
  <p class="lead">${rich('People with access to this service, and their roles. Passwords are shown once. Programs are under <link>API keys</link>.', { link: content => html`<a href=${linkTo('api-keys')}>${content}</a>` })}</p>
  <${Accounts} isProgram=${false} />`
