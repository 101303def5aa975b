"""Places an order and reads the changes since then.

Needs TILLBRIDGE_URL, TILLBRIDGE_API_KEY and TILLBRIDGE_SERVICE, and TILLBRIDGE_CA if the system doesn't trust the
service's certificate. Run it with the ID of a customer, a SKU and its price: python example.py 65432 HOOD-S 29.99
"""

import os
import ssl
import sys

from tillbridge import NotFoundError, Tillbridge
from tillbridge.generated.api.customers import get_customer
from tillbridge.generated.api.inventory import list_inventory
from tillbridge.generated.api.orders import place_order
from tillbridge.generated.api.stores import list_stores
from tillbridge.generated.models import OrderInput, OrderLineInput, OrderPaymentInput, PostalAddress

customer_id, sku, price = sys.argv[1:]
certificates = ssl.create_default_context(cafile=os.environ.get("TILLBRIDGE_CA"))
connection = {name: os.environ[f"TILLBRIDGE_{name.upper()}"] for name in ("url", "api_key", "service")}

with Tillbridge(**connection, verify=certificates) as shop:
    for store in shop.records(list_stores):
        print("Store", store.store_number, store.name)

    print("Sellable", sum(level.sellable for level in shop.records(list_inventory, sku=sku)))

    try:
        shop.call(get_customer, "no-such-customer")
    except NotFoundError as error:
        print("Error", error.code)

    address = PostalAddress(address_line_1="111 Collins St", city="Melbourne", postcode="3000", country="Australia")
    order = shop.call(
        place_order,
        body=OrderInput(
            customer_id=customer_id,
            billing_address=address,
            delivery_address=address,
            lines=[OrderLineInput(sku=sku, quantity=1)],
            payments=[OrderPaymentInput(gateway="paypal", amount=price, reference="PAYID-1")],
        ),
        idempotency_key="basket-4711",
    ).data
    print("Order", order.id, order.total)

    for change in shop.follow(kinds="order", save=lambda cursor: print("Cursor", cursor)):
        print("Change", change.kind, change.id)
        if change.id == order.id:
            break
