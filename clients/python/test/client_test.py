"""Tests of the client against a running service (scripts/clients/clients.test.ts). TILLBRIDGE_LOSES and
TILLBRIDGE_LOSES_TOO are URLs of proxies that lose one response, and the first one then cuts off another response.
TILLBRIDGE_WEBHOOK is a delivery: its body, headers and secret."""

import json
import os
import ssl
import unittest
from uuid import uuid4

from tillbridge import InvalidRequestError, OutcomeUnknownError, Tillbridge, UnavailableError, WebhookError, verify_webhook
from tillbridge.generated.api.customers import create_customer, search_customers
from tillbridge.generated.api.stores import list_stores
from tillbridge.generated.models import CustomerInput, CustomerInputContact

certificates = ssl.create_default_context(cafile=os.environ["TILLBRIDGE_CA"])


def connect(url: str = os.environ["TILLBRIDGE_URL"], **options) -> Tillbridge:
    options = {"verify": certificates, **options}
    return Tillbridge(url, os.environ["TILLBRIDGE_API_KEY"], os.environ["TILLBRIDGE_SERVICE"], **options)


def new_customer(surname: str) -> CustomerInput:
    contact = CustomerInputContact(email=f"{uuid4()}@example.com")
    return CustomerInput(firstname="Ann", surname=surname, contact=contact)


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = connect()
        self.addCleanup(self.client.close)

    def count(self, surname: str) -> int:
        return sum(1 for _ in self.client.records(search_customers, name=surname))

    def test_reads_all_pages(self) -> None:
        stores = list(self.client.records(list_stores, limit=1))
        self.assertEqual(len(stores), len({store.store_id for store in stores}))
        self.assertGreater(len(stores), 1)

    def test_creates_a_customer_once_if_responses_are_lost_and_cut_off(self) -> None:
        with connect(os.environ["TILLBRIDGE_LOSES"]) as client:
            customer = client.call(create_customer, body=new_customer("Lost")).data
        self.assertEqual(customer.surname, "Lost")
        self.assertEqual(self.count("Lost"), 1)

    def test_returns_the_key_of_an_unknown_outcome(self) -> None:
        with connect(os.environ["TILLBRIDGE_LOSES_TOO"], retry_seconds=0, reconcile_seconds=0) as client:
            body = new_customer("Unknown")
            with self.assertRaises(OutcomeUnknownError) as caught:
                client.call(create_customer, body=body)
            client.call(create_customer, body=body, idempotency_key=caught.exception.idempotency_key)
        self.assertEqual(self.count("Unknown"), 1)

    def test_follows_changes_and_resumes_at_the_saved_cursor(self) -> None:
        cursors: list[str] = []
        changes = self.client.follow(kinds="customer", save=cursors.append)

        def create_and_await(surname: str) -> str:
            created_id = self.client.call(create_customer, body=new_customer(surname)).data.id
            next(change for change in changes if change.id == created_id)
            return created_id

        create_and_await("Before")
        last_id = create_and_await("After")
        resumed = self.client.follow(kinds="customer", cursor=cursors[-1])
        self.assertEqual(next(resumed).id, last_id)

    def test_lists_every_error_of_a_request(self) -> None:
        body = CustomerInput(firstname="", surname="", contact=CustomerInputContact(email="ann"))
        with self.assertRaises(InvalidRequestError) as caught:
            self.client.call(create_customer, body=body)
        self.assertIn("/contact/email", [error["pointer"] for error in caught.exception.errors])

    def test_reports_an_untrusted_certificate_at_once(self) -> None:
        with connect(verify=True) as client, self.assertRaises(UnavailableError) as caught:
            client.call(list_stores)
        self.assertEqual(caught.exception.code, "certificate_rejected")

    def test_verifies_a_webhook(self) -> None:
        delivery = json.loads(os.environ["TILLBRIDGE_WEBHOOK"])
        body, headers, secret = delivery["body"].encode(), delivery["headers"], delivery["secret"]
        self.assertEqual(verify_webhook(body, headers, secret)["type"], "records.changed")
        for wrong in ((body + b" ", headers), (body, {**headers, "webhook-timestamp": "1"}), (body, {})):
            with self.assertRaises(WebhookError):
                verify_webhook(*wrong, secret)


if __name__ == "__main__":
    unittest.main()
