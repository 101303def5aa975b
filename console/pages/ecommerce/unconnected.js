import { Guide } from '../../components/guide.js'
import { html } from '../../lib/html.js'
import { linkTo, useRouteService } from '../../lib/route.js'
import { rich, t } from '../../lib/text.js'

/** How to connect an e-commerce platform, or to import its files instead. */
export function Unconnected() {
  const service = useRouteService() ?? ''
  const test = { text: t('Test the connection.'), command: `tillbridge ecommerce test ${service}` }
  const reload = { text: t('Reload this page. It then shows the syncs and the stock push.') }
  return html`<p class="note">No connection yet. It is set on the server, because only its operator can choose the systems that Tillbridge calls.</p>
    <div class="guides">
      <${Guide}
        title="Connect Shopify"
        page="connect/shopify"
        steps=${[
          { text: t("Create an app in Shopify's Dev Dashboard and install it in your shop.") },
          {
            text: t("Set the shop's address and the client ID. The command asks for the client secret."),
            command: `tillbridge ecommerce set ${service} url=your-shop.myshopify.com clientId=4f1c2d…`,
          },
          test,
          reload,
        ]}
      />
      <${Guide}
        title="Connect Medusa"
        page="connect/medusa"
        steps=${[
          { text: t("Create a secret API key in Medusa's admin.") },
          {
            text: t('Set the address of the backend. The command asks for the key.'),
            command: `tillbridge ecommerce set ${service} driver=medusa url=medusa.example.com`,
          },
          test,
          reload,
        ]}
      />
      <${Guide}
        title="Import the platform's files"
        page="connect/map-ecommerce"
        lead=${t('Without a connection, files of locations, variants and customers are enough to check the mappings.')}
        steps=${[
          { text: t('Export the files in your platform.') },
          {
            text: rich('<link>Import the files</link> here.', {
              link: content => html`<a href=${linkTo('import')}>${content}</a>`,
            }),
          },
          {
            text: rich('<link>Check the mappings</link>.', {
              link: content => html`<a href=${linkTo('mappings')}>${content}</a>`,
            }),
          },
        ]}
      />
    </div>`
}
