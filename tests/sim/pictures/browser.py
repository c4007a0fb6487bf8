"""A page in headless Chromium, driven through chromedriver."""

import contextlib
import importlib
import shutil


def missing():
    """What is not here of what this needs, in words; None where nothing is missing."""
    try:
        importlib.import_module("selenium.webdriver")
    except ImportError:
        return "selenium is not here (Debian: python3-selenium)"
    for tool in ("chromium", "chromedriver"):
        if shutil.which(tool) is None:
            return f"{tool} is not here (Debian: chromium, chromium-driver)"
    return None


@contextlib.contextmanager
def opened(width=1500, height=1100, dark=False):
    """A browser window without a network."""
    webdriver = importlib.import_module("selenium.webdriver")
    service = importlib.import_module("selenium.webdriver.chrome.service").Service
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--proxy-server=127.0.0.1:9",
        "--proxy-bypass-list=127.0.0.1",
        f"--window-size={width},{height}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=service(shutil.which("chromedriver")), options=options)
    try:
        driver.set_script_timeout(60)
        if dark:
            media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        yield driver
    finally:
        driver.quit()


def load(driver, path):
    """Opens the page and waits until it is drawn. Returns milliseconds from navigation to that."""
    driver.get("about:blank")
    driver.get(f"file://{path}")
    return driver.execute_async_script(
        """const done = arguments[0];
        (function look() {
          if (document.documentElement.dataset.ready === 'yes') {
            requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0));
          } else {
            setTimeout(look, 5);
          }
        })();"""
    )


def complaints(driver):
    """What the page complained of on its console."""
    return [row["message"] for row in driver.get_log("browser") if row["level"] == "SEVERE"]
